#include "transports/reduction/device_reduction.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "tests/transports/gpu_memory.hpp"

namespace penstock::transports::test {
namespace {

template <class T>
struct Kind;
#define ROW(name, Type)                                    \
  template <>                                              \
  struct Kind<Type> {                                      \
    static constexpr ElementType type = ElementType::name; \
  };
PENSTOCK_REDUCED_TYPES(ROW)
#undef ROW

template <class T>
std::vector<T> values(std::size_t count, unsigned seed) {
  std::vector<T> all(count);
  for (std::size_t i = 0; i < count; ++i)
    all[i] = static_cast<T>((static_cast<unsigned>(i) * 2654435761u + seed * 40503u) >> 24);
  return all;
}

/// What the host makes of it. Sums and products of whole numbers wrap around.
template <class T>
T combine(ReductionOperation operation, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    const auto x = static_cast<std::uint64_t>(a);
    const auto y = static_cast<std::uint64_t>(b);
    switch (operation) {
      case ReductionOperation::sum:
        return static_cast<T>(x + y);
      case ReductionOperation::product:
        return static_cast<T>(x * y);
      case ReductionOperation::logical_and:
        return static_cast<T>(a && b);
      case ReductionOperation::logical_or:
        return static_cast<T>(a || b);
      case ReductionOperation::logical_xor:
        return static_cast<T>(!a != !b);
      case ReductionOperation::bit_and:
        return static_cast<T>(x & y);
      case ReductionOperation::bit_or:
        return static_cast<T>(x | y);
      case ReductionOperation::bit_xor:
        return static_cast<T>(x ^ y);
      default:
        break;
    }
  } else {
    if (operation == ReductionOperation::sum) return a + b;
    if (operation == ReductionOperation::product) return a * b;
  }
  return operation == ReductionOperation::maximum ? std::max(a, b) : std::min(a, b);
}

template <class T>
class DeviceReductionOf : public testing::Test {
 protected:
  DeviceReductionOf() {
    use_device(0);
    context = cuda::Context::any(0);
  }

  /// `offset` in elements, of all vectors. In place: into the first.
  void expect_right(ReductionOperation operation, std::size_t sources, std::size_t count, std::size_t offset,
                    bool in_place) {
    SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(operation) << ", " << sources
                                    << " vectors of " << count << " from " << offset);
    const std::size_t bytes = (count + offset) * sizeof(T);
    std::vector<std::unique_ptr<GpuMemory>> memory;
    std::vector<const void*> addresses;
    std::vector<T> expected;
    for (std::size_t source = 0; source < sources; ++source) {
      const std::vector<T> vector = values<T>(count, static_cast<unsigned>(source + 1));
      std::vector<std::uint8_t> content(bytes);
      std::memcpy(content.data() + offset * sizeof(T), vector.data(), count * sizeof(T));
      memory.push_back(std::make_unique<GpuMemory>(BufferKind::device, bytes));
      memory.back()->write(content);
      addresses.push_back(static_cast<T*>(memory.back()->data()) + offset);
      if (source == 0) expected = vector;
      for (std::size_t i = 0; source != 0 && i < count; ++i)
        expected[i] = combine(operation, expected[i], vector[i]);
    }
    const GpuMemory other(BufferKind::device, bytes);
    const GpuMemory& result = in_place ? *memory[0] : other;
    DeviceReduction reduction(context);
    ASSERT_TRUE(
        reduction
            .launch({static_cast<T*>(result.data()) + offset, addresses, count, Kind<T>::type, operation})
            .ok());
    ASSERT_TRUE(reduction.wait().ok());
    std::vector<T> seen(count);
    std::memcpy(seen.data(), result.read().data() + offset * sizeof(T), count * sizeof(T));
    EXPECT_EQ(seen, expected);
  }

  cuda::ContextRef context;
};

using Types = testing::Types<std::int8_t, std::uint8_t, std::int16_t, std::uint16_t, std::int32_t,
                             std::uint32_t, std::int64_t, std::uint64_t, float, double>;
TYPED_TEST_SUITE(DeviceReductionOf, Types);

TYPED_TEST(DeviceReductionOf, two_vectors_is_right_for_each_operation) {
  for (auto operation = ReductionOperation::sum; operation <= ReductionOperation::bit_xor;
       operation = static_cast<ReductionOperation>(static_cast<std::uint32_t>(operation) + 1)) {
    if (is_defined(operation, Kind<TypeParam>::type)) this->expect_right(operation, 2, 1003, 0, false);
  }
}

TYPED_TEST(DeviceReductionOf, any_number_of_vectors_of_any_length_is_right) {
  for (const std::size_t sources : {1u, 2u, 8u, 9u, 16u}) {
    for (const std::size_t count : {1u, 15u, 16u, 5000u})
      this->expect_right(ReductionOperation::sum, sources, count, 0, false);
  }
}

TYPED_TEST(DeviceReductionOf, vectors_that_are_not_aligned_are_right) {
  this->expect_right(ReductionOperation::maximum, 3, 777, 1, false);
}

TYPED_TEST(DeviceReductionOf, vectors_may_be_combined_into_the_first) {
  this->expect_right(ReductionOperation::sum, 2, 4097, 0, true);
  this->expect_right(ReductionOperation::sum, 12, 4097, 1, true);
}

TEST(DeviceReduction, without_a_launch_there_is_nothing_to_wait_for) {
  use_device(0);
  DeviceReduction reduction(cuda::Context::any(0));
  bool done = false;
  EXPECT_TRUE(reduction.query(done).ok());
  EXPECT_TRUE(done);
}

TEST(DeviceReduction, whole_numbers_have_all_operations_and_others_four) {
  EXPECT_TRUE(is_defined(ReductionOperation::bit_xor, ElementType::uint64));
  EXPECT_TRUE(is_defined(ReductionOperation::minimum, ElementType::float32));
  EXPECT_FALSE(is_defined(ReductionOperation::logical_and, ElementType::float64));
}

}  // namespace
}  // namespace penstock::transports::test
