// What this example's kernels share. For .cu files only.
#pragma once

#include <cstdint>
#include <cstring>

#include "examples/particles/cells.hpp"
#include "examples/particles/pair.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

__device__ inline std::uint32_t thread_index() {
  return blockIdx.x * blockDim.x + threadIdx.x;
}

__device__ inline std::uint32_t thread_count() {
  return gridDim.x * blockDim.x;
}

__device__ inline std::uint32_t bits_of(float value) {
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

__device__ inline float float_of(std::uint32_t bits) {
  float value = 0;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

/// Notes a mover's next cell, which may be no_cell.
__device__ inline void enter(const Movers& movers, std::uint32_t index, std::uint32_t cell) {
  movers.cells[index] = cell;
  if (cell != no_cell) {
    movers.turns[index] = atomicAdd(&movers.counts[cell], 1U);
  }
}

/// Calls `use` with the separation from, and the index of, each particle that `own` interacts with.
template <typename Model, typename Use>
__device__ void for_each_near(const Cells& cells, const Sorted& sorted, const Model& model, const Place& own,
                              std::uint32_t cell, Use&& use) {
  const std::uint32_t segments_end = cells.segment_starts[cell + 1];
  for (std::uint32_t index = cells.segment_starts[cell]; index < segments_end; ++index) {
    const Segment segment = cells.segments[index];
    const std::uint32_t end = sorted.starts[segment.end()];
    for (std::uint32_t other = sorted.starts[segment.first()]; other < end; ++other) {
      const Pair::Separation separation = model.between(own, sorted.places[other]);
      if (separation.is_near()) {
        use(separation, other);
      }
    }
  }
}

/// Adds the force that `own` gets, in that step, from the particle at `other`.
template <typename Model>
__device__ void add_force(const Sorted& sorted, const Model& model, const Pair::Separation& near,
                          const Pair::Party& own, std::uint32_t other, std::uint32_t step, Pair::Sum& sum) {
  if constexpr (Model::has_friction) {
    model.add_force(near, own, {sorted.places[other].identity, sorted.motions[other]}, step, sum);
  } else {
    model.add_force(near, sum);
  }
}

}  // namespace particles
