#include "interpose/collectives/schedules/undefined_reductions.hpp"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <mutex>
#include <new>
#include <type_traits>
#include <vector>

#include "interpose/protocol/matched_messages.hpp"

namespace penstock::interpose {
namespace {

using transports::ElementType;
using transports::ReductionOperation;

/// Combines as the kernels do: sums and products wrap around, truth values are 0 and 1.
template <class T>
T combined(ReductionOperation operation, T a, T b) noexcept {
  const auto wide_a = static_cast<std::uint64_t>(a);
  const auto wide_b = static_cast<std::uint64_t>(b);
  switch (operation) {
    case ReductionOperation::sum:
      return static_cast<T>(wide_a + wide_b);
    case ReductionOperation::product:
      return static_cast<T>(wide_a * wide_b);
    case ReductionOperation::maximum:
      return std::max(a, b);
    case ReductionOperation::minimum:
      return std::min(a, b);
    case ReductionOperation::logical_and:
      return static_cast<T>(a != 0 && b != 0);
    case ReductionOperation::logical_or:
      return static_cast<T>(a != 0 || b != 0);
    case ReductionOperation::logical_xor:
      return static_cast<T>((a != 0) != (b != 0));
    case ReductionOperation::bit_and:
      return static_cast<T>(wide_a & wide_b);
    case ReductionOperation::bit_or:
      return static_cast<T>(wide_a | wide_b);
    case ReductionOperation::bit_xor:
      return static_cast<T>(wide_a ^ wide_b);
    case ReductionOperation::maximum_location:
    case ReductionOperation::minimum_location:
      break;
  }
  return a;
}

/// Returns numbers around zero and around both ends of signed and unsigned types, and some between.
template <class T>
std::vector<T> telling_numbers() {
  using Signed = std::make_signed_t<T>;
  constexpr auto least = std::numeric_limits<Signed>::min();
  constexpr auto most = std::numeric_limits<Signed>::max();
  std::vector<T> numbers;
  for (const Signed one : {Signed{0}, Signed{1}, Signed{2}, Signed{3}, Signed{7}, Signed{100}, most,
                           static_cast<Signed>(most - 1), least, static_cast<Signed>(least + 1), Signed{-1},
                           Signed{-2}, Signed{-3}, Signed{-100}, static_cast<Signed>(most / 3)}) {
    numbers.push_back(static_cast<T>(one));
  }
  return numbers;
}

/// Returns whether the library accepts the reduction. MPI_Reduce_local has no communicator, so the library
/// would raise its refusal on one of the program's. A call on a communicator of Penstock's therefore tests it
/// first.
bool accepts(const LibraryReduction& reduction, const void* number, void* result) noexcept {
  const MPI_Comm alone = communicator_of_this_rank();
  return alone != MPI_COMM_NULL &&
         PMPI_Allreduce(number, result, 1, reduction.datatype, reduction.operation, alone) == MPI_SUCCESS;
}

template <class T>
bool combines_alike(const LibraryReduction& reduction, ReductionOperation operation) {
  const std::vector<T> numbers = telling_numbers<T>();
  T unused_result{};
  if (!accepts(reduction, numbers.data(), &unused_result)) return false;
  std::vector<T> first;
  std::vector<T> second;
  std::vector<T> expected;
  for (const T a : numbers) {
    for (const T b : numbers) {
      first.push_back(a);
      second.push_back(b);
      expected.push_back(combined(operation, a, b));
    }
  }
  return PMPI_Reduce_local(first.data(), second.data(), static_cast<int>(first.size()), reduction.datatype,
                           reduction.operation) == MPI_SUCCESS &&
         second == expected;
}

bool ask_library(const LibraryReduction& reduction, const KernelReduction& kernel) {
  switch (kernel.type) {
    case ElementType::int8:
      return combines_alike<std::int8_t>(reduction, kernel.operation);
    case ElementType::uint8:
      return combines_alike<std::uint8_t>(reduction, kernel.operation);
    case ElementType::int16:
      return combines_alike<std::int16_t>(reduction, kernel.operation);
    case ElementType::uint16:
      return combines_alike<std::uint16_t>(reduction, kernel.operation);
    case ElementType::int32:
      return combines_alike<std::int32_t>(reduction, kernel.operation);
    case ElementType::uint32:
      return combines_alike<std::uint32_t>(reduction, kernel.operation);
    case ElementType::int64:
      return combines_alike<std::int64_t>(reduction, kernel.operation);
    case ElementType::uint64:
      return combines_alike<std::uint64_t>(reduction, kernel.operation);
    default:
      return false;
  }
}

struct Answer {
  LibraryReduction to;
  bool is_alike;
};

struct Answers {
  std::mutex mutex;  ///< held while the library is tested, which waits for no rank
  std::vector<Answer> all;
};

/// Never destroyed: calls may follow the static destructors.
Answers& answers() {
  static Answers& made = *new Answers;
  return made;
}

}  // namespace

bool library_combines_alike(const LibraryReduction& reduction, const KernelReduction& kernel) noexcept try {
  const std::lock_guard lock(answers().mutex);
  auto& all = answers().all;
  const auto known = std::ranges::find_if(all, [&](const Answer& one) {
    return one.to.datatype == reduction.datatype && one.to.operation == reduction.operation;
  });
  if (known != all.end()) return known->is_alike;
  all.push_back({reduction, false});
  return all.back().is_alike = ask_library(reduction, kernel);
} catch (const std::bad_alloc&) {
  return false;
}

}  // namespace penstock::interpose
