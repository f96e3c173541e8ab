// What the host hands to the reduction's kernels: everything by value, as for the batched copy. For host
// code, nvcc and the simulated GPU alike. Knows no MPI.
#pragma once

#include <cstdint>

namespace penstock::transports::kernels {

/// Vectors that one launch combines.
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
};

/// to[i] = (…(from[0][i] ∘ from[1][i]) ∘ …) ∘ from[sources - 1][i]. `to` may be one of `from`; they overlap
/// in no other way.
struct Reduction {
  void* to;
  const void* from[most_sources];
  std::uint64_t count;    ///< elements
  std::uint32_t sources;  ///< at least 1
  ReductionOperation operation;
  std::uint32_t* flag;  ///< host memory as the device sees it: becomes 1 at the end; may be null
  std::uint32_t slot;   ///< whose counter to use
};

/// One kernel each, by the name `penstock_reduce_<name>`, called with (Reduction). Floating-point ones know
/// the first four operations.
#define PENSTOCK_REDUCED_TYPES(row)                                                                   \
  row(int8, std::int8_t) row(uint8, std::uint8_t) row(int16, std::int16_t) row(uint16, std::uint16_t) \
      row(int32, std::int32_t) row(uint32, std::uint32_t) row(int64, std::int64_t)                    \
          row(uint64, std::uint64_t) row(float32, float) row(float64, double)

}  // namespace penstock::transports::kernels
