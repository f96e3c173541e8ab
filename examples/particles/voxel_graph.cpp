#include "examples/particles/voxel_graph.hpp"

#include <algorithm>
#include <numeric>

namespace particles {
namespace {

/// In 32 bits: eighths of voxels, or fewer of a larger unit.
void add_vertices(VoxelGraph& graph, const std::vector<std::int64_t>& volume, std::int64_t most_weight) {
  const std::int64_t all = std::accumulate(volume.begin(), volume.end(), std::int64_t{0});
  const std::int64_t unit = all / most_weight + 1;
  std::int32_t count = 0;
  for (const std::int64_t eighths : volume) {
    graph.vertex.push_back(eighths > 0 ? count++ : -1);
    if (eighths > 0) {
      graph.weights.push_back(static_cast<std::int32_t>(std::max<std::int64_t>(eighths / unit, 1)));
    }
  }
}

/// To each block behind one of the six faces once.
void add_edges(VoxelGraph& graph, const Site& block) {
  const std::int32_t own = graph.vertex[graph.index(block)];
  if (own < 0) {
    return;
  }
  const auto first = static_cast<std::ptrdiff_t>(graph.ends.size());
  for (int face = 0; face < 6; ++face) {
    const int step = face % 2 == 0 ? -1 : 1;
    const Site other = moved(block, face / 2 == 0 ? step : 0, face / 2 == 1 ? step : 0,
                             face / 2 == 2 ? step : 0, graph.blocks);
    const std::int32_t end = graph.vertex[graph.index(other)];
    const bool is_new = std::find(graph.ends.begin() + first, graph.ends.end(), end) == graph.ends.end();
    if (end >= 0 && end != own && is_new) {
      graph.ends.push_back(end);
    }
  }
  graph.starts.push_back(static_cast<std::int32_t>(graph.ends.size()));
}

}  // namespace

VoxelGraph make_voxel_graph(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                            const GraphLimits& limits) {
  const Site voxels = box.voxels();
  const auto fluid_count =
      std::count_if(fluid.begin(), fluid.end(), [](std::uint8_t part) { return part > 0; });
  VoxelGraph graph;
  while (fluid_count / (std::int64_t{graph.width} * graph.width * graph.width) >
         std::max<std::int64_t>(limits.vertices, pieces)) {
    ++graph.width;
  }
  for (int axis = 0; axis < 3; ++axis) {
    graph.blocks[axis] = (voxels.at[axis] + graph.width - 1) / graph.width;
  }
  std::vector<std::int64_t> volume(std::size_t{graph.blocks[0]} * graph.blocks[1] * graph.blocks[2]);
  const std::uint8_t* next = fluid.data();
  for_each_site(voxels.at, [&](const Site& site) { volume[graph.block_of(site)] += *next++; });
  add_vertices(graph, volume, limits.weight);
  for_each_site(graph.blocks, [&](const Site& block) { add_edges(graph, block); });
  return graph;
}

}  // namespace particles
