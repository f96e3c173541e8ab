// Parameters of the reduction's kernels: everything by value, as for the batched copy. For host code, nvcc
// and the simulated GPU alike. This header knows no MPI.
#pragma once

#include <cstdint>
#include <type_traits>

namespace penstock::transports::kernels {

/// The most vectors that one launch combines.
inline constexpr std::uint32_t most_sources = 8;

enum class ReductionOperation : std::uint32_t {
  sum,
  product,
  maximum,
  minimum,
  logical_and,  ///< the logical ones yield 0 or 1
  logical_or,
  logical_xor,
  bit_and,
  bit_or,
  bit_xor,
  maximum_location,  ///< of pairs of a value and its location
  minimum_location,
};

/// As C, C++ and Fortran lay them out.
template <class T>
struct Complex {
  T real;
  T imaginary;
};
/// The elements of MPI's MAXLOC and MINLOC. There may be a gap between value and location, and behind: it is
/// never written.
template <class T, class L = std::int32_t>
struct Located {
  T value;
  L location;
};
using LocatedInt16 = Located<std::int16_t>;
using LocatedInt32 = Located<std::int32_t>;
using LocatedInt64 = Located<std::int64_t>;
using LocatedFloat32 = Located<float>;
using LocatedFloat64 = Located<double>;
/// Fortran's, whose locations have the type of the value.
using TwoFloat32 = Located<float, float>;
using TwoFloat64 = Located<double, double>;

template <class T>
inline constexpr bool is_complex = false;
template <class T>
inline constexpr bool is_complex<Complex<T>> = true;
template <class T>
inline constexpr bool is_located = false;
template <class T, class L>
inline constexpr bool is_located<Located<T, L>> = true;

/// Returns whether the kernel of that type knows the operation.
template <class T>
[[nodiscard]] constexpr bool knows(ReductionOperation operation) noexcept {
  if (is_located<T>) return operation >= ReductionOperation::maximum_location;
  if (is_complex<T>) return operation <= ReductionOperation::product;
  if (std::is_floating_point_v<T>) return operation <= ReductionOperation::minimum;
  return operation <= ReductionOperation::bit_xor;
}

/// to[i] = (…(from[0][i] ∘ from[1][i]) ∘ …) ∘ from[sources - 1][i]. `to` may be one of `from`; otherwise they
/// do not overlap.
struct Reduction {
  void* to;
  const void* from[most_sources];
  std::uint64_t count;    ///< elements
  std::uint32_t sources;  ///< at least 1
  ReductionOperation operation;
  std::uint32_t* flag;  ///< host memory as the device sees it: becomes 1 at the end; may be null
  std::uint32_t slot;   ///< whose counter to use
};

/// Each type has one kernel, `penstock_reduce_<name>`, called with (Reduction).
#define PENSTOCK_REDUCED_TYPES(row)                                                                   \
  row(int8, std::int8_t) row(uint8, std::uint8_t) row(int16, std::int16_t) row(uint16, std::uint16_t) \
      row(int32, std::int32_t) row(uint32, std::uint32_t) row(int64, std::int64_t)                    \
          row(uint64, std::uint64_t) row(float32, float) row(float64, double)                         \
              row(complex_float32, Complex<float>) row(complex_float64, Complex<double>)              \
                  row(located_int16, LocatedInt16) row(located_int32, LocatedInt32)                   \
                      row(located_int64, LocatedInt64) row(located_float32, LocatedFloat32)           \
                          row(located_float64, LocatedFloat64) row(two_float32, TwoFloat32)           \
                              row(two_float64, TwoFloat64)

}  // namespace penstock::transports::kernels
