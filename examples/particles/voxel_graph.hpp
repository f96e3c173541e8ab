// The voxels of a domain as a graph that a partitioner cuts. Knows no partitioner.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/partition.hpp"

namespace particles {

/// What a partitioner can do with 32-bit numbers, and in seconds.
struct GraphLimits {
  std::int64_t vertices = 4'000'000;
  std::int64_t weight = 1 << 30;  ///< of all vertices together, but that each has 1 at least
};

/// Blocks of voxels: those that share a face are joined. A block is a voxel, or larger where there would be
/// too many.
struct VoxelGraph {
  std::uint32_t width = 1;  ///< of a block, in voxels
  std::uint32_t blocks[3]{};
  std::vector<std::int32_t> vertex;     ///< of each block, or −1
  std::vector<std::int32_t> starts{0};  ///< of each vertex's part of `ends`, and where the last one's ends
  std::vector<std::int32_t> ends;       ///< of edges: the other vertex
  std::vector<std::int32_t> weights;

  [[nodiscard]] std::size_t index(const Site& block) const {
    return (std::size_t{block.at[2]} * blocks[1] + block.at[1]) * blocks[0] + block.at[0];
  }
  [[nodiscard]] std::size_t block_of(const Site& voxel) const {
    return index({{voxel.at[0] / width, voxel.at[1] / width, voxel.at[2] / width}});
  }
};

[[nodiscard]] VoxelGraph make_voxel_graph(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                                          const GraphLimits& limits = {});

/// Each voxel belongs to the piece of its block's vertex.
template <typename Part>
[[nodiscard]] Owners owners_of(const VoxelGraph& graph, const std::vector<Part>& parts, const Box& box,
                               const std::vector<std::uint8_t>& fluid) {
  Owners owners(fluid.size(), no_owner);
  std::size_t voxel = 0;
  for_each_site(box.voxels().at, [&](const Site& site) {
    if (fluid[voxel] > 0) {
      const std::int32_t vertex = graph.vertex[graph.block_of(site)];
      owners[voxel] = static_cast<Owner>(parts[static_cast<std::size_t>(vertex)]);
    }
    ++voxel;
  });
  return owners;
}

}  // namespace particles
