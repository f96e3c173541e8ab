// One change of few elements in place, which also returns their earlier values: MPI's accumulates. For host
// code, nvcc and the simulated GPU alike. This header knows no MPI.
#pragma once

#include <cstdint>

#include "transports/kernels/one_shot_collective.hpp"

namespace penstock::transports::kernels {

enum class UpdateKind : std::uint32_t {
  combine,  ///< target = target ∘ operand, of a ResidentType
  replace,  ///< target = operand
  keep,     ///< the target is only read
  swap,     ///< target = operand where target == compared, bit for bit
};

/// Whoever orders it makes sure that nobody else changes the elements meanwhile. All addresses are aligned as
/// the elements are.
struct ElementUpdate {
  void* target;
  const void* operand;
  const void* compared;
  void* result;  ///< receives the target's earlier values; null: nobody wants them
  std::uint32_t count;
  std::uint32_t element_shift;  ///< binary logarithm of an element's bytes: 0 to 3
  UpdateKind kind;
  ResidentType type;  ///< for combine, as `operation`
  ReductionOperation operation;
};

/// Above, launches on more threads are as fast.
inline constexpr std::uint32_t largest_update = 1024;

}  // namespace penstock::transports::kernels
