// Reductions that the GPU does: every operation on every type that it knows, gaps in pairs, vectors of
// several pieces, and the promise about the bits of floating-point results.
#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

#include "interpose/binding/mpi_level.hpp"
#include "tests/interpose/collectives/comparison.hpp"
#include "tests/support/memory.hpp"
#include "tests/support/random.hpp"

namespace penstock::test_support {
namespace {

/// One for each rank, as far as there are enough.
int own_gpu() {
  return World().rank % gpu_count();
}

template <class T>
struct MpiType;
#define PENSTOCK_ROW(Type, name)                  \
  template <>                                     \
  struct MpiType<Type> {                          \
    static MPI_Datatype handle() { return name; } \
  };
PENSTOCK_ROW(signed char, MPI_SIGNED_CHAR)
PENSTOCK_ROW(unsigned char, MPI_UNSIGNED_CHAR)
PENSTOCK_ROW(std::int16_t, MPI_INT16_T)
PENSTOCK_ROW(std::uint16_t, MPI_UINT16_T)
PENSTOCK_ROW(int, MPI_INT)
PENSTOCK_ROW(unsigned, MPI_UNSIGNED)
PENSTOCK_ROW(long, MPI_LONG)
PENSTOCK_ROW(std::uint64_t, MPI_UINT64_T)
PENSTOCK_ROW(float, MPI_FLOAT)
PENSTOCK_ROW(double, MPI_DOUBLE)
#undef PENSTOCK_ROW

/// Small whole numbers, so that floating-point results are exact in any order.
template <class T>
std::vector<T> vector_of(int rank, std::size_t count) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<T>(1 + (i * 7 + static_cast<std::size_t>(rank) * 5) % 4);
  return all;
}

template <class T>
std::vector<T> read_all(const Memory& memory, std::size_t count) {
  std::vector<T> all(count);
  memory.read(0, all.data(), count * sizeof(T));
  return all;
}

template <class T>
class Reductions : public testing::Test {
 protected:
  static constexpr std::size_t count = 10'001;

  /// `reduce(send, receive)` on host memory and on the device; `received` elements are compared.
  template <class Reduce>
  void expect_same(std::size_t received, Reduce reduce) {
    const std::vector<T> sent = vector_of<T>(world.rank, count * static_cast<std::size_t>(world.size));
    std::vector<T> expected(received + 1);
    EXPECT_EQ(reduce(sent.data(), expected.data()), MPI_SUCCESS);
    Memory send(MemoryKind::device, sent.size() * sizeof(T), own_gpu());
    Memory receive(MemoryKind::device, (received + 1) * sizeof(T), own_gpu());
    send.write(0, sent.data(), sent.size() * sizeof(T));
    EXPECT_EQ(reduce(send.data(), receive.data()), MPI_SUCCESS);
    expected.pop_back();
    EXPECT_EQ(read_all<T>(receive, received), expected);
    EXPECT_EQ(read_all<T>(send, sent.size()), sent);
  }

  static std::vector<MPI_Op> operations() {
    std::vector<MPI_Op> all = {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN};
    if (std::is_integral_v<T>) {
      for (const MPI_Op operation : {MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR})
        all.push_back(operation);
    }
    return all;
  }

  const World world;
  const MPI_Datatype type = MpiType<T>::handle();
};

using Types = testing::Types<signed char, unsigned char, std::int16_t, std::uint16_t, int, unsigned, long,
                             std::uint64_t, float, double>;
TYPED_TEST_SUITE(Reductions, Types);

TYPED_TEST(Reductions, Allreduce_knows_every_operation) {
  for (const MPI_Op operation : this->operations()) {
    this->expect_same(this->count, [&](const void* send, void* receive) {
      return MPI_Allreduce(send, receive, this->count, this->type, operation, MPI_COMM_WORLD);
    });
  }
}

TYPED_TEST(Reductions, Reduce_to_each_root_is_right) {
  for (int root = 0; root < this->world.size; ++root) {
    this->expect_same(this->world.rank == root ? this->count : 0, [&](const void* send, void* receive) {
      return MPI_Reduce(send, receive, this->count, this->type, MPI_SUM, root, MPI_COMM_WORLD);
    });
  }
}

TYPED_TEST(Reductions, Reduce_scatter_to_ranges_of_any_length_is_right) {
  std::vector<int> counts(static_cast<std::size_t>(this->world.size), 11);
  counts[0] = 0;
  counts.back() = static_cast<int>(this->count);
  const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(this->world.rank)]);
  this->expect_same(own, [&](const void* send, void* receive) {
    return MPI_Reduce_scatter(send, receive, counts.data(), this->type, MPI_MAX, MPI_COMM_WORLD);
  });
  this->expect_same(this->count, [&](const void* send, void* receive) {
    return MPI_Reduce_scatter_block(send, receive, this->count, this->type, MPI_SUM, MPI_COMM_WORLD);
  });
}

TYPED_TEST(Reductions, Scan_and_Exscan_know_every_operation) {
  for (const MPI_Op operation : this->operations()) {
    this->expect_same(this->count, [&](const void* send, void* receive) {
      return MPI_Scan(send, receive, this->count, this->type, operation, MPI_COMM_WORLD);
    });
    this->expect_same(this->world.rank == 0 ? 0 : this->count, [&](const void* send, void* receive) {
      return MPI_Exscan(send, receive, this->count, this->type, operation, MPI_COMM_WORLD);
    });
  }
}

/// Complex numbers and the pairs of MAXLOC and MINLOC, as C lays them out: there may be gaps.
template <class First, class Second>
struct TwoNumbers {
  First first;
  Second second;
};

template <class First, class Second>
struct TwoNumbersOf {
  using Element = TwoNumbers<First, Second>;
  MPI_Datatype type;
  std::array<MPI_Op, 2> operations;

  static constexpr std::size_t size = sizeof(Element);

  /// Gaps hold `gap`.
  static std::vector<std::uint8_t> vector_of(int rank, std::size_t count, std::uint8_t gap) {
    std::vector<std::uint8_t> bytes(count * size, gap);
    for (std::size_t i = 0; i < count; ++i) {
      const auto shift = static_cast<std::size_t>(rank);
      put(bytes, i, static_cast<First>((i * 7 + shift * 3) % 4), static_cast<Second>((i + 5 * shift) % 9));
    }
    return bytes;
  }
  static void put(std::vector<std::uint8_t>& bytes, std::size_t i, First first, Second second) {
    std::memcpy(bytes.data() + i * size + offsetof(Element, first), &first, sizeof first);
    std::memcpy(bytes.data() + i * size + offsetof(Element, second), &second, sizeof second);
  }

  /// `reduce(send, receive)` on host memory and on the device, where gaps must stay as they are.
  template <class Reduce>
  static void expect_same(std::size_t sent, std::size_t received, Reduce reduce) {
    const World world;
    const std::vector<std::uint8_t> send = vector_of(world.rank, sent, 0x11);
    std::vector<std::uint8_t> on_host((received + 1) * size);
    EXPECT_EQ(reduce(send.data(), on_host.data()), MPI_SUCCESS);
    std::vector<std::uint8_t> expected(received * size, 0xa5);
    for (std::size_t i = 0; i < received; ++i) {
      Element element;
      std::memcpy(&element, on_host.data() + i * size, size);
      put(expected, i, element.first, element.second);
    }
    Memory on_device(MemoryKind::device, send.size(), own_gpu());
    Memory result(MemoryKind::device, (received + 1) * size, own_gpu());
    on_device.write(0, send.data(), send.size());
    result.write(0, std::vector<std::uint8_t>((received + 1) * size, 0xa5).data(), (received + 1) * size);
    EXPECT_EQ(reduce(on_device.data(), result.data()), MPI_SUCCESS);
    EXPECT_TRUE(read_all<std::uint8_t>(result, received * size) == expected);
    EXPECT_TRUE(read_all<std::uint8_t>(on_device, send.size()) == send);
  }

  void expect_right(int count = 3'000) const {
    const World world;
    int size_bytes = 0;
    if (type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size_bytes) != MPI_SUCCESS ||
        size_bytes != sizeof(First) + sizeof(Second)) {
      return;
    }
    const auto elements = static_cast<std::size_t>(count);
    const auto all = elements * static_cast<std::size_t>(world.size);
    for (const MPI_Op op : operations) {
      expect_same(elements, elements, [&](const void* send, void* receive) {
        return MPI_Allreduce(send, receive, count, type, op, MPI_COMM_WORLD);
      });
      expect_same(elements, elements, [&](const void* send, void* receive) {
        return MPI_Scan(send, receive, count, type, op, MPI_COMM_WORLD);
      });
      expect_same(elements, world.rank == 0 ? 0 : elements, [&](const void* send, void* receive) {
        return MPI_Exscan(send, receive, count, type, op, MPI_COMM_WORLD);
      });
      expect_same(elements, world.rank == 1 ? elements : 0, [&](const void* send, void* receive) {
        return MPI_Reduce(send, receive, count, type, op, 1, MPI_COMM_WORLD);
      });
      expect_same(all, elements, [&](const void* send, void* receive) {
        return MPI_Reduce_scatter_block(send, receive, count, type, op, MPI_COMM_WORLD);
      });
    }
  }
};

TEST(Reductions, of_complex_numbers_are_right) {
  const std::array operations = {MPI_SUM, MPI_PROD};
  for (const MPI_Datatype type : {MPI_C_FLOAT_COMPLEX, MPI_CXX_FLOAT_COMPLEX, MPI_COMPLEX})
    TwoNumbersOf<float, float>{type, operations}.expect_right();
  for (const MPI_Datatype type : {MPI_C_DOUBLE_COMPLEX, MPI_CXX_DOUBLE_COMPLEX, MPI_DOUBLE_COMPLEX})
    TwoNumbersOf<double, double>{type, operations}.expect_right();
  TwoNumbersOf<double, double>{MPI_C_DOUBLE_COMPLEX, operations}.expect_right(270'001);
}

TEST(Reductions, of_pairs_are_right_and_leave_their_gaps) {
  const std::array operations = {MPI_MAXLOC, MPI_MINLOC};
  TwoNumbersOf<short, int>{MPI_SHORT_INT, operations}.expect_right();
  TwoNumbersOf<int, int>{MPI_2INT, operations}.expect_right();
  TwoNumbersOf<long, int>{MPI_LONG_INT, operations}.expect_right();
  TwoNumbersOf<float, int>{MPI_FLOAT_INT, operations}.expect_right();
  TwoNumbersOf<double, int>{MPI_DOUBLE_INT, operations}.expect_right();
  TwoNumbersOf<float, float>{MPI_2REAL, operations}.expect_right();
  TwoNumbersOf<double, double>{MPI_2DOUBLE_PRECISION, operations}.expect_right();
  // more than fits in one step, whose results go from rank to rank
  TwoNumbersOf<short, int>{MPI_SHORT_INT, operations}.expect_right(140'001);
  TwoNumbersOf<double, int>{MPI_DOUBLE_INT, operations}.expect_right(270'001);
}

TEST(Reductions, of_truth_values_are_right) {
  const World world;
  constexpr std::size_t count = 9'001;
  const auto expect_right = [&](auto example, MPI_Datatype type) {
    using T = decltype(example);
    std::vector<T> own(count);
    for (std::size_t i = 0; i < count; ++i)
      own[i] = static_cast<T>((i + 3 * static_cast<std::size_t>(world.rank)) % 5 < 2);
    Memory send(MemoryKind::device, count * sizeof(T), own_gpu());
    Memory receive(MemoryKind::device, count * sizeof(T), own_gpu());
    send.write(0, own.data(), count * sizeof(T));
    for (const MPI_Op operation : {MPI_LAND, MPI_LOR, MPI_LXOR}) {
      std::vector<T> expected(count);
      MPI_Allreduce(own.data(), expected.data(), count, type, operation, MPI_COMM_WORLD);
      MPI_Allreduce(send.data(), receive.data(), count, type, operation, MPI_COMM_WORLD);
      EXPECT_EQ(read_all<T>(receive, count), expected);
    }
  };
  expect_right(std::uint8_t{}, MPI_C_BOOL);
  expect_right(std::int32_t{}, MPI_LOGICAL);
}

/// More than fits in one step, and more than one piece of each rank's range.
TEST(Reductions, of_large_vectors_are_right_and_may_be_in_place) {
  const World world;
  for (const std::size_t count : {std::size_t{1} << 20, (std::size_t{20} << 20) + 3}) {
    std::vector<int> own(count);
    for (std::size_t i = 0; i < count; ++i) own[i] = static_cast<int>(i * 2654435761u) + world.rank;
    const auto expected = [&](std::size_t i) {
      const auto ranks = static_cast<unsigned>(world.size);
      return static_cast<int>(static_cast<unsigned>(i * 2654435761u) * ranks + ranks * (ranks - 1) / 2);
    };
    for (const bool in_place : {false, true}) {
      SCOPED_TRACE(testing::Message() << count << (in_place ? " in place" : ""));
      Memory send(MemoryKind::device, count * sizeof(int), own_gpu());
      Memory receive(MemoryKind::device, count * sizeof(int), own_gpu());
      (in_place ? receive : send).write(0, own.data(), count * sizeof(int));
      EXPECT_EQ(MPI_Allreduce(in_place ? MPI_IN_PLACE : send.data(), receive.data(), static_cast<int>(count),
                              MPI_INT, MPI_SUM, MPI_COMM_WORLD),
                MPI_SUCCESS);
      const std::vector<int> seen = read_all<int>(receive, count);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < count; ++i) wrong += seen[i] == expected(i) ? 0 : 1;
      EXPECT_EQ(wrong, 0u);
    }
  }
}

/// Equal ranges, in one piece and in several; and such that a rank's result covers some of its own elements.
TEST(Reductions, to_ranges_may_be_in_place) {
  const World world;
  const auto ranks = static_cast<std::size_t>(world.size);
  for (const int most : {3'000, 3'200'000}) {
    for (const bool equal : {true, false}) {
      SCOPED_TRACE(testing::Message() << most << (equal ? " each" : " at most"));
      std::vector<int> counts(ranks, most);
      for (std::size_t rank = 0; !equal && rank < ranks; ++rank)
        counts[rank] = rank % 2 == 0 ? static_cast<int>(5 + rank) : most - static_cast<int>(rank);
      const auto all = static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), 0));
      const auto first =
          static_cast<std::size_t>(std::accumulate(counts.begin(), counts.begin() + world.rank, 0));
      const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank)]);
      std::vector<unsigned> numbers(all);
      for (std::size_t i = 0; i < all; ++i)
        numbers[i] = static_cast<unsigned>(i) * 2654435761u + static_cast<unsigned>(world.rank);
      Memory memory(MemoryKind::device, all * sizeof(unsigned), own_gpu());
      memory.write(0, numbers.data(), all * sizeof(unsigned));
      EXPECT_EQ(equal ? MPI_Reduce_scatter_block(MPI_IN_PLACE, memory.data(), most, MPI_UNSIGNED, MPI_SUM,
                                                 MPI_COMM_WORLD)
                      : MPI_Reduce_scatter(MPI_IN_PLACE, memory.data(), counts.data(), MPI_UNSIGNED, MPI_SUM,
                                           MPI_COMM_WORLD),
                MPI_SUCCESS);
      const std::vector<unsigned> seen = read_all<unsigned>(memory, all);
      const auto size = static_cast<unsigned>(world.size);
      std::size_t wrong = 0;
      for (std::size_t i = 0; i < own; ++i) {
        const unsigned expected =
            static_cast<unsigned>(first + i) * 2654435761u * size + size * (size - 1) / 2;
        wrong += seen[i] == expected ? 0 : 1;
      }
      EXPECT_EQ(wrong, 0u);
      // what is behind stays as it was
      EXPECT_TRUE(std::equal(seen.begin() + static_cast<std::ptrdiff_t>(own), seen.end(),
                             numbers.begin() + static_cast<std::ptrdiff_t>(own)));
    }
  }
}

TEST(Reductions, of_floating_point_numbers_give_the_same_bits_on_all_ranks_and_each_time) {
  const World world;
  for (const std::size_t count : {std::size_t{9'999}, std::size_t{400'001}}) {
    std::vector<double> own(count);
    Random random(17u + static_cast<unsigned>(world.rank));
    random.fill(own.data(), count * sizeof(double));
    for (double& number : own) {  // of any magnitude, but numbers
      const auto bits = std::bit_cast<std::uint64_t>(number);
      number = static_cast<double>(static_cast<std::int64_t>(bits)) * 1e-9;
    }
    Memory send(MemoryKind::device, count * sizeof(double), own_gpu());
    Memory receive(MemoryKind::device, count * sizeof(double), own_gpu());
    send.write(0, own.data(), count * sizeof(double));
    std::vector<double> first;
    for (int run = 0; run < 3; ++run) {
      MPI_Allreduce(send.data(), receive.data(), static_cast<int>(count), MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
      std::vector<double> seen = read_all<double>(receive, count);
      if (run == 0) first = seen;
      EXPECT_EQ(std::memcmp(seen.data(), first.data(), count * sizeof(double)), 0);
      std::vector<double> of_rank_0 = seen;
      MPI_Bcast(of_rank_0.data(), static_cast<int>(count), MPI_DOUBLE, 0, MPI_COMM_WORLD);
      EXPECT_EQ(std::memcmp(seen.data(), of_rank_0.data(), count * sizeof(double)), 0);
    }
  }
}

/// A little, more than that in one piece, and more pieces than are under way at a time.
TEST(Reductions, of_prefixes_are_the_bits_of_combining_in_the_order_of_the_ranks) {
  const World world;
  const auto number = [](int rank, std::size_t i) {
    return static_cast<double>((i * 2654435761u + static_cast<unsigned>(rank) * 40503u) % 1000003u) * 1e-3 +
           (rank % 2 == 0 ? 1e9 : -1e9);
  };
  for (const std::size_t count : {std::size_t{3000}, std::size_t{600'001}, std::size_t{2'600'003}}) {
    if (world.size > 4 && count > 1'000'000) continue;  // too long a test
    for (const bool exclusive : {false, true}) {
      for (const bool in_place : {false, true}) {
        SCOPED_TRACE(testing::Message()
                     << count << (exclusive ? " exclusive" : "") << (in_place ? " in place" : ""));
        std::vector<double> own(count);
        for (std::size_t i = 0; i < count; ++i) own[i] = number(world.rank, i);
        Memory send(MemoryKind::device, count * sizeof(double), own_gpu());
        Memory receive(MemoryKind::device, count * sizeof(double), own_gpu());
        (in_place ? receive : send).write(0, own.data(), count * sizeof(double));
        const auto call = exclusive ? MPI_Exscan : MPI_Scan;
        EXPECT_EQ(call(in_place ? MPI_IN_PLACE : send.data(), receive.data(), static_cast<int>(count),
                       MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD),
                  MPI_SUCCESS);
        if (!in_place) {
          EXPECT_EQ(read_all<double>(send, count), own);
        }
        if (exclusive && world.rank == 0) continue;
        const std::vector<double> seen = read_all<double>(receive, count);
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < count; ++i) {
          double expected = number(0, i);
          for (int rank = 1; rank < world.rank + (exclusive ? 0 : 1); ++rank) expected += number(rank, i);
          wrong += std::bit_cast<std::uint64_t>(seen[i]) == std::bit_cast<std::uint64_t>(expected) ? 0 : 1;
        }
        EXPECT_EQ(wrong, 0u);
      }
    }
  }
}

#if PENSTOCK_HAS_MPI_4
TEST(Reductions, of_prefixes_that_are_persistent_may_be_started_again) {
  const World world;
  constexpr std::size_t count = 2'000'000;
  Memory send(MemoryKind::device, count * sizeof(int), own_gpu());
  Memory receive(MemoryKind::device, count * sizeof(int), own_gpu());
  std::array<MPI_Request, 2> requests{};
  MPI_Scan_init(send.data(), receive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                &requests[0]);
  Memory exclusive(MemoryKind::device, count * sizeof(int), own_gpu());
  MPI_Exscan_init(MPI_IN_PLACE, exclusive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL,
                  &requests[1]);
  for (int round = 0; round < 3; ++round) {
    const std::vector<int> own(count, world.rank + round);
    send.write(0, own.data(), count * sizeof(int));
    exclusive.write(0, own.data(), count * sizeof(int));
    MPI_Startall(2, requests.data());
    MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
    const int before = world.rank * (world.rank - 1) / 2 + world.rank * round;
    EXPECT_EQ(read_all<int>(receive, count), std::vector<int>(count, before + world.rank + round));
    if (world.rank != 0) {
      EXPECT_EQ(read_all<int>(exclusive, count), std::vector<int>(count, before));
    }
  }
  for (MPI_Request& request : requests) MPI_Request_free(&request);
}
#endif

TEST(Reductions, with_one_ranks_buffer_on_the_host_are_right) {
  const World world;
  constexpr int count = 4000;
  const std::vector<int> own(count, world.rank + 1);
  for (int odd = 0; odd < world.size; ++odd) {
    const MemoryKind kind = world.rank == odd ? MemoryKind::pageable : MemoryKind::device;
    Memory send(kind, count * sizeof(int), own_gpu());
    Memory receive(kind, count * sizeof(int), own_gpu());
    send.write(0, own.data(), count * sizeof(int));
    EXPECT_EQ(MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD),
              MPI_SUCCESS);
    EXPECT_EQ(read_all<int>(receive, count), std::vector<int>(count, world.size * (world.size + 1) / 2));
    EXPECT_EQ(MPI_Scan(send.data(), receive.data(), count, MPI_INT, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
    EXPECT_EQ(read_all<int>(receive, count),
              std::vector<int>(count, (world.rank + 1) * (world.rank + 2) / 2));
  }
}

/// Of types for which the standard defines no reduction, or not every one, and what the library makes of them
/// all the same. All bytes, and all signs.
struct UndefinedReduction {
  MPI_Datatype type;
  std::size_t bytes;
};

/// A random vector: the bits of any number.
std::vector<std::uint8_t> random_elements(std::size_t bytes, std::uint64_t seed) {
  std::vector<std::uint8_t> all(bytes);
  Random(mix(seed)).fill(all.data(), bytes);
  // zeros, for the logical operations
  for (std::size_t i = 0; i < bytes; ++i) {
    if (i / 64 % 3 == 0) all[i] = 0;
  }
  return all;
}

TEST(Reductions, that_the_standard_does_not_define_are_those_of_the_MPI_library) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  const World world;
  constexpr int count = 16 * 1024 + 5;
  std::size_t carried_out = 0;
  for (const auto& [type, width] :
       {UndefinedReduction{MPI_CHAR, 1}, UndefinedReduction{MPI_WCHAR, sizeof(wchar_t)},
        UndefinedReduction{MPI_CHARACTER, 1}, UndefinedReduction{MPI_BYTE, 1},
        UndefinedReduction{MPI_INTEGER, 4}}) {
    const std::size_t bytes = count * width;
    const std::vector<std::uint8_t> own = random_elements(bytes, 40 + static_cast<std::size_t>(world.rank));
    Memory send(MemoryKind::device, bytes, own_gpu());
    Memory receive(MemoryKind::device, bytes, own_gpu());
    send.write(0, own.data(), bytes);
    for (const MPI_Op operation :
         {MPI_SUM, MPI_PROD, MPI_MAX, MPI_MIN, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_BAND, MPI_BOR, MPI_BXOR}) {
      std::vector<std::uint8_t> expected(bytes);
      const int code = MPI_Allreduce(own.data(), expected.data(), count, type, operation, communicator);
      const int code_on_device =
          MPI_Allreduce(send.data(), receive.data(), count, type, operation, communicator);
      EXPECT_EQ(code == MPI_SUCCESS, code_on_device == MPI_SUCCESS);
      if (code != MPI_SUCCESS) continue;
      ++carried_out;
      EXPECT_TRUE(read_all<std::uint8_t>(receive, bytes) == expected) << type << " " << operation;
    }
  }
  EXPECT_GT(carried_out, 20u);
  MPI_Comm_free(&communicator);
}

std::atomic<int> errors_heard = 0;
void hear(MPI_Comm*, int*, ...) {
  ++errors_heard;
}

/// Whether the library would carry them out must be found out without a word to the program.
TEST(Reductions, that_the_MPI_library_refuses_raise_one_error_on_their_communicator_and_none_elsewhere) {
  MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(hear, &handler);
  MPI_Errhandler of_world = MPI_ERRHANDLER_NULL;
  MPI_Errhandler of_self = MPI_ERRHANDLER_NULL;
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &of_world);
  MPI_Comm_get_errhandler(MPI_COMM_SELF, &of_self);
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  for (const MPI_Comm heard : {MPI_COMM_WORLD, MPI_COMM_SELF, communicator}) {
    MPI_Comm_set_errhandler(heard, handler);
  }
  constexpr int count = 16 * 1024;
  Memory send(MemoryKind::device, count * sizeof(wchar_t), own_gpu());
  Memory receive(MemoryKind::device, count * sizeof(wchar_t), own_gpu());
  // each for the first time, then again
  for (int round = 0; round < 2; ++round) {
    for (const auto& [type, operation] : {std::pair{MPI_WCHAR, MPI_MIN}, std::pair{MPI_C_BOOL, MPI_SUM},
                                          std::pair{MPI_LOGICAL, MPI_PROD}, std::pair{MPI_CHAR, MPI_MAX}}) {
      errors_heard = 0;
      const int code = MPI_Allreduce(send.data(), receive.data(), count, type, operation, communicator);
      EXPECT_EQ(errors_heard.load(), code == MPI_SUCCESS ? 0 : 1);
    }
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, of_world);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, of_self);
  for (MPI_Errhandler* const one : {&handler, &of_world, &of_self}) MPI_Errhandler_free(one);
  MPI_Comm_free(&communicator);
}

TEST(Reductions, that_the_MPI_library_refuses_are_refused) {
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  Memory send(MemoryKind::device, 64, own_gpu());
  Memory receive(MemoryKind::device, 64, own_gpu());
  EXPECT_NE(MPI_Allreduce(send.data(), receive.data(), 4, MPI_DOUBLE, MPI_BXOR, communicator), MPI_SUCCESS);
  const int one = 1;
  int sum = 0;
  EXPECT_EQ(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, communicator), MPI_SUCCESS);
  MPI_Comm_free(&communicator);
}

/// Run where kernels cannot be launched, which also shows that the GPU is asked to.
TEST(Reductions, DISABLED_that_the_GPU_cannot_do_are_an_MPI_error_on_each_rank) {
  constexpr int count = 4000;
  MPI_Comm communicator = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &communicator);
  MPI_Comm_set_errhandler(communicator, MPI_ERRORS_RETURN);
  Memory send(MemoryKind::device, count * sizeof(int), own_gpu());
  Memory receive(MemoryKind::device, count * sizeof(int), own_gpu());
  EXPECT_NE(MPI_Allreduce(send.data(), receive.data(), count, MPI_INT, MPI_SUM, communicator), MPI_SUCCESS);
  // Sums of MPI_CHAR are left to Open MPI, whose vector code saturates them.
  EXPECT_NE(MPI_Allreduce(send.data(), receive.data(), 4 * count, MPI_CHAR, MPI_MAX, communicator),
            MPI_SUCCESS);
  // the first rank combines nothing
  EXPECT_EQ(MPI_Scan(send.data(), receive.data(), count, MPI_INT, MPI_SUM, communicator) == MPI_SUCCESS,
            World().rank == 0);
  MPI_Comm_free(&communicator);
}

}  // namespace
}  // namespace penstock::test_support
