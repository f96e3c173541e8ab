#include "transports/reduction/device_reduction.hpp"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <vector>

#include "tests/transports/gpu_memory.hpp"

namespace penstock::transports::test {
namespace {

using namespace kernels;  // the element types

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

/// Combines these vectors into `result`, which holds bytes already.
template <class T>
void reduce_to(const GpuMemory& result, const std::vector<std::vector<T>>& vectors,
               ReductionOperation operation) {
  std::vector<std::unique_ptr<GpuMemory>> memory;
  std::vector<const void*> addresses;
  for (const std::vector<T>& vector : vectors) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(vector.data());
    memory.push_back(std::make_unique<GpuMemory>(BufferKind::device, vector.size() * sizeof(T)));
    memory.back()->write({bytes, bytes + vector.size() * sizeof(T)});
    addresses.push_back(memory.back()->data());
  }
  DeviceReduction reduction(cuda::Context::any(0));
  ASSERT_TRUE(reduction.launch({result.data(), addresses, vectors[0].size(), Kind<T>::type, operation}).ok());
  ASSERT_TRUE(reduction.wait().ok());
}

template <class T>
class ComplexReductionOf : public testing::Test {};
using RealTypes = testing::Types<float, double>;
TYPED_TEST_SUITE(ComplexReductionOf, RealTypes);

TYPED_TEST(ComplexReductionOf, sums_and_products_are_right) {
  use_device(0);
  using T = Complex<TypeParam>;
  constexpr std::size_t count = 1003;
  std::vector<std::vector<T>> vectors(3, std::vector<T>(count));
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    for (std::size_t i = 0; i < count; ++i)
      vectors[v][i] = {static_cast<TypeParam>(i % 7 + v), static_cast<TypeParam>(i % 5) - 2};
  }
  const auto number = [](const T& one) { return std::complex<TypeParam>(one.real, one.imaginary); };
  for (const bool is_sum : {true, false}) {
    const GpuMemory result(BufferKind::device, count * sizeof(T));
    reduce_to(result, vectors, is_sum ? ReductionOperation::sum : ReductionOperation::product);
    const auto bytes = result.read();
    for (std::size_t i = 0; i < count; ++i) {
      T seen;
      std::memcpy(&seen, bytes.data() + i * sizeof(T), sizeof(T));
      const auto a = number(vectors[0][i]);
      const auto b = number(vectors[1][i]);
      const auto c = number(vectors[2][i]);
      ASSERT_EQ(number(seen), is_sum ? a + b + c : a * b * c) << i;
    }
  }
}

template <class T>
class PairReductionOf : public testing::Test {
 protected:
  PairReductionOf() { use_device(0); }
};
using PairTypes = testing::Types<LocatedInt16, LocatedInt32, LocatedInt64, LocatedFloat32, LocatedFloat64,
                                 TwoFloat32, TwoFloat64>;
TYPED_TEST_SUITE(PairReductionOf, PairTypes);

TYPED_TEST(PairReductionOf, the_extreme_with_the_lowest_location_is_found_and_gaps_stay) {
  using Value = decltype(TypeParam::value);
  using Location = decltype(TypeParam::location);
  constexpr std::size_t count = 1003;
  constexpr std::size_t size = sizeof(TypeParam);
  std::vector<std::vector<TypeParam>> vectors(3, std::vector<TypeParam>(count));
  for (std::size_t v = 0; v < vectors.size(); ++v) {
    for (std::size_t i = 0; i < count; ++i) {
      vectors[v][i].value = static_cast<Value>((i * 7 + v * 3) % 4);  // many are equal
      vectors[v][i].location = static_cast<Location>((i + 5 * v) % 9);
    }
  }
  for (const bool is_maximum : {true, false}) {
    const GpuMemory result(BufferKind::device, count * size);
    result.write(std::vector<std::uint8_t>(count * size, 0xa5));
    reduce_to(result, vectors,
              is_maximum ? ReductionOperation::maximum_location : ReductionOperation::minimum_location);
    const auto bytes = result.read();
    for (std::size_t i = 0; i < count; ++i) {
      TypeParam expected = vectors[0][i];
      for (std::size_t v = 1; v < vectors.size(); ++v) {
        const TypeParam& next = vectors[v][i];
        if (next.value == expected.value) {
          expected.location = std::min(expected.location, next.location);
        } else if ((next.value > expected.value) == is_maximum) {
          expected.value = next.value;
          expected.location = next.location;
        }
      }
      std::vector<std::uint8_t> element(size, 0xa5);
      std::memcpy(element.data() + offsetof(TypeParam, value), &expected.value, sizeof(Value));
      std::memcpy(element.data() + offsetof(TypeParam, location), &expected.location, sizeof(Location));
      ASSERT_TRUE(
          std::equal(element.begin(), element.end(), bytes.begin() + static_cast<std::ptrdiff_t>(i * size)))
          << i;
    }
  }
}

TEST(PairReduction, a_value_that_is_no_number_gives_way_to_the_one_behind_it) {
  use_device(0);
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  const GpuMemory result(BufferKind::device, 2 * sizeof(LocatedFloat64));
  reduce_to<LocatedFloat64>(result, {{{nan, 1}, {3.0, 1}}, {{2.0, 5}, {nan, 5}}},
                            ReductionOperation::maximum_location);
  LocatedFloat64 seen[2];
  std::memcpy(seen, result.read().data(), sizeof seen);
  EXPECT_EQ(seen[0].value, 2.0);
  EXPECT_EQ(seen[0].location, 5);
  EXPECT_TRUE(std::isnan(seen[1].value));
  EXPECT_EQ(seen[1].location, 5);
}

TEST(DeviceReduction, launched_in_turn_reads_what_the_one_before_has_made) {
  use_device(0);
  constexpr std::size_t count = 5000;
  const std::vector<std::uint8_t> ones(count, 1);
  const GpuMemory a(BufferKind::device, count);
  const GpuMemory b(BufferKind::device, count);
  const GpuMemory sum(BufferKind::device, count);
  a.write(ones);
  b.write(ones);
  const void* const both[] = {a.data(), b.data()};
  const void* const made[] = {sum.data()};
  const VectorReduction reductions[] = {
      {sum.data(), both, count, ElementType::uint8, ReductionOperation::sum},
      {b.data(), made, count, ElementType::uint8, ReductionOperation::sum}};
  DeviceReduction reduction(cuda::Context::any(0));
  ASSERT_TRUE(reduction.launch_in_turn(reductions).ok());
  ASSERT_TRUE(reduction.wait().ok());
  EXPECT_EQ(b.read(), std::vector<std::uint8_t>(count, 2));
}

/// Ends the process: with 0 if the sum was made. At once: a kernel that has raised its flag may still be on
/// its way out, and whoever looks for leaks then takes its memory for one.
[[noreturn]] void add_and_exit() {
  use_device(0);
  constexpr std::size_t count = 5000;
  const GpuMemory a(BufferKind::device, count);
  const GpuMemory sum(BufferKind::device, count);
  a.write(std::vector<std::uint8_t>(count, 3));
  const void* const sources[] = {a.data(), a.data()};
  const VectorReduction reductions[] = {
      {sum.data(), sources, count, ElementType::uint8, ReductionOperation::sum}};
  DeviceReduction reduction(cuda::Context::any(0));
  const bool went_well = reduction.launch_in_turn(reductions).ok() && reduction.wait().ok();
  std::_Exit(went_well && sum.read() == std::vector<std::uint8_t>(count, 6) ? 0 : 1);
}

/// Faults are read when the driver starts, so this is a process of its own.
TEST(DeviceReductionWithFaults, without_pinned_memory_for_its_flag_a_reduction_is_made_all_the_same) {
  if (dlsym(RTLD_DEFAULT, "simulated_gpu_marker") == nullptr) GTEST_SKIP() << "faults need the simulated GPU";
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  setenv("SIMULATED_GPU_FAULTS", "cuMemHostRegister_v2:2", 1);
  EXPECT_EXIT(add_and_exit(), testing::ExitedWithCode(0), "");
  unsetenv("SIMULATED_GPU_FAULTS");
}

TEST(DeviceReduction, without_a_launch_there_is_nothing_to_wait_for) {
  use_device(0);
  DeviceReduction reduction(cuda::Context::any(0));
  bool done = false;
  EXPECT_TRUE(reduction.query(done).ok());
  EXPECT_TRUE(done);
}

TEST(DeviceReduction, each_type_has_its_operations) {
  EXPECT_TRUE(is_defined(ReductionOperation::bit_xor, ElementType::uint64));
  EXPECT_TRUE(is_defined(ReductionOperation::minimum, ElementType::float32));
  EXPECT_FALSE(is_defined(ReductionOperation::logical_and, ElementType::float64));
  EXPECT_FALSE(is_defined(ReductionOperation::maximum_location, ElementType::int32));
  EXPECT_TRUE(is_defined(ReductionOperation::product, ElementType::complex_float32));
  EXPECT_FALSE(is_defined(ReductionOperation::maximum, ElementType::complex_float64));
  EXPECT_TRUE(is_defined(ReductionOperation::minimum_location, ElementType::located_int16));
  EXPECT_FALSE(is_defined(ReductionOperation::sum, ElementType::two_float64));
}

}  // namespace
}  // namespace penstock::transports::test
