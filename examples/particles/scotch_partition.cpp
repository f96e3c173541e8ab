#include <algorithm>

#include "examples/particles/partition.hpp"

#if PARTICLES_HAVE_SCOTCH
#include <cstdio>

extern "C" {
#include <scotch.h>
}
#endif

namespace particles {

#if PARTICLES_HAVE_SCOTCH
bool has_scotch() {
  return true;
}

namespace {

/// Scotch cuts so many vertices in seconds. Finer voxels are joined to blocks.
constexpr std::int64_t most_vertices = 4'000'000;

/// Blocks of voxels as a graph: those that share a face are joined.
struct Graph {
  std::uint32_t width = 1;  ///< of a block, in voxels
  std::uint32_t blocks[3]{};
  std::vector<SCOTCH_Num> vertex;  ///< of each block, or −1
  std::vector<SCOTCH_Num> starts{0};
  std::vector<SCOTCH_Num> ends;
  std::vector<SCOTCH_Num> weights;

  [[nodiscard]] std::size_t index(const Site& block) const {
    return (std::size_t{block.at[2]} * blocks[1] + block.at[1]) * blocks[0] + block.at[0];
  }
  [[nodiscard]] std::size_t block_of(const Site& voxel) const {
    return index({{voxel.at[0] / width, voxel.at[1] / width, voxel.at[2] / width}});
  }
};

Graph make_graph(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces) {
  const Site voxels = box.voxels();
  const auto fluid_count =
      std::count_if(fluid.begin(), fluid.end(), [](std::uint8_t part) { return part > 0; });
  Graph graph;
  while (fluid_count / (std::int64_t{graph.width} * graph.width * graph.width) >
         std::max<std::int64_t>(most_vertices, pieces)) {
    ++graph.width;
  }
  for (int axis = 0; axis < 3; ++axis) {
    graph.blocks[axis] = (voxels.at[axis] + graph.width - 1) / graph.width;
  }
  std::vector<std::int64_t> volume(std::size_t{graph.blocks[0]} * graph.blocks[1] * graph.blocks[2]);
  const std::uint8_t* next = fluid.data();
  for_each_site(voxels.at, [&](const Site& site) { volume[graph.block_of(site)] += *next++; });

  SCOTCH_Num count = 0;
  for (const std::int64_t eighths : volume) {
    graph.vertex.push_back(eighths > 0 ? count++ : -1);
    if (eighths > 0) {
      graph.weights.push_back(static_cast<SCOTCH_Num>(eighths));
    }
  }
  for_each_site(graph.blocks, [&](const Site& site) {
    if (graph.vertex[graph.index(site)] < 0) {
      return;
    }
    const std::size_t first = graph.ends.size();
    for (int face = 0; face < 6; ++face) {
      const int step = face % 2 == 0 ? -1 : 1;
      const Site other = moved(site, face / 2 == 0 ? step : 0, face / 2 == 1 ? step : 0,
                               face / 2 == 2 ? step : 0, graph.blocks);
      const SCOTCH_Num end = graph.vertex[graph.index(other)];
      const bool is_new = std::find(graph.ends.begin() + static_cast<std::ptrdiff_t>(first), graph.ends.end(),
                                    end) == graph.ends.end();
      if (end >= 0 && end != graph.vertex[graph.index(site)] && is_new) {
        graph.ends.push_back(end);
      }
    }
    graph.starts.push_back(static_cast<SCOTCH_Num>(graph.ends.size()));
  });
  return graph;
}

/// The piece of each vertex, or nothing if Scotch refuses.
std::vector<SCOTCH_Num> cut(Graph& graph, int pieces, std::uint64_t seed) {
  std::vector<SCOTCH_Num> parts(graph.weights.size());
  SCOTCH_randomSeed(static_cast<SCOTCH_Num>(seed & 0x7FFFFFFF));
  SCOTCH_randomReset();
  SCOTCH_Graph handle;
  SCOTCH_Strat strategy;
  SCOTCH_graphInit(&handle);
  SCOTCH_stratInit(&strategy);
  constexpr double imbalance = 0.01;
  const bool is_cut =
      SCOTCH_graphBuild(&handle, 0, static_cast<SCOTCH_Num>(parts.size()), graph.starts.data(), nullptr,
                        graph.weights.data(), nullptr, static_cast<SCOTCH_Num>(graph.ends.size()),
                        graph.ends.data(), nullptr) == 0 &&
      SCOTCH_stratGraphMapBuild(&strategy, SCOTCH_STRATBALANCE, pieces, imbalance) == 0 &&
      SCOTCH_graphPart(&handle, pieces, &strategy, parts.data()) == 0;
  SCOTCH_stratExit(&strategy);
  SCOTCH_graphExit(&handle);
  return is_cut ? parts : std::vector<SCOTCH_Num>{};
}

}  // namespace

Partition cut_by_scotch(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                        std::uint64_t seed) {
  Graph graph = make_graph(box, fluid, pieces);
  const std::vector<SCOTCH_Num> parts = cut(graph, pieces, seed);
  if (parts.empty()) {
    return {{}, "--partition: Scotch did not cut the graph"};
  }
  Partition partition{Owners(fluid.size(), no_owner), {}};
  std::size_t voxel = 0;
  for_each_site(box.voxels().at, [&](const Site& site) {
    if (fluid[voxel] > 0) {
      const SCOTCH_Num vertex = graph.vertex[graph.block_of(site)];
      partition.owners[voxel] = static_cast<Owner>(parts[static_cast<std::size_t>(vertex)]);
    }
    ++voxel;
  });
  return partition;
}

#else

bool has_scotch() {
  return false;
}

Partition cut_by_scotch(const Box&, const std::vector<std::uint8_t>&, int, std::uint64_t) {
  return {{}, "--partition: this program was built without libscotch; take slabs, or a file"};
}

#endif

}  // namespace particles
