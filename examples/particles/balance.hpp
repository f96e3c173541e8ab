// What counts of particles say of a partition, and as weights for another one. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/particles/partition.hpp"

namespace particles {

/// Weights of voxels as the partition takes them, from particles in each: a voxel of fluid that has none has
/// 1, the fullest about 255.
[[nodiscard]] std::vector<std::uint8_t> measured_weights(const std::vector<std::uint8_t>& fluid,
                                                         const std::vector<std::uint32_t>& counts);

/// The same pieces with other numbers, so that many particles belong to whom they belonged before. A
/// partitioner numbers its pieces as it likes.
[[nodiscard]] Owners renumbered(Owners owners, const Owners& before, const std::vector<std::uint32_t>& counts,
                                int pieces);

/// By how much the particles of the fullest piece exceed the mean, as a share of it.
[[nodiscard]] double imbalance_of(const Owners& owners, const std::vector<std::uint32_t>& counts, int pieces);

/// Counts that are 255 at most.
[[nodiscard]] std::vector<std::uint8_t> in_bytes(const std::vector<std::uint32_t>& counts);

}  // namespace particles
