#include "examples/particles/partition.hpp"
#include "examples/particles/voxel_graph.hpp"

#if PARTICLES_HAVE_METIS
#include <metis.h>
#endif

namespace particles {

#if PARTICLES_HAVE_METIS
bool has_metis() {
  return true;
}

namespace {

using Numbers = std::vector<idx_t>;

/// METIS takes its arguments as not constant, though it only reads these.
Numbers numbers_of(const std::vector<std::int32_t>& values) {
  return {values.begin(), values.end()};
}

/// The piece of each vertex, or nothing if METIS refuses.
Numbers cut(const VoxelGraph& graph, int pieces, std::uint64_t seed) {
  Numbers parts(graph.weights.size());
  if (pieces == 1) {
    return parts;  // METIS 5.1 divides by zero
  }
  Numbers starts = numbers_of(graph.starts);
  Numbers ends = numbers_of(graph.ends);
  Numbers weights = numbers_of(graph.weights);
  idx_t options[METIS_NOPTIONS];
  METIS_SetDefaultOptions(options);
  options[METIS_OPTION_SEED] = static_cast<idx_t>(seed & 0x7FFFFFFF);
  options[METIS_OPTION_UFACTOR] = 10;  // thousandths above the mean
  auto vertices = static_cast<idx_t>(parts.size());
  auto piece_count = static_cast<idx_t>(pieces);
  idx_t constraints = 1;
  idx_t edge_cut = 0;
  const int result =
      METIS_PartGraphKway(&vertices, &constraints, starts.data(), ends.data(), weights.data(), nullptr,
                          nullptr, &piece_count, nullptr, nullptr, options, &edge_cut, parts.data());
  return result == METIS_OK ? parts : Numbers{};
}

}  // namespace

Partition cut_by_metis(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                       std::uint64_t seed) {
  const VoxelGraph graph = make_voxel_graph(box, fluid, pieces);
  const Numbers parts = cut(graph, pieces, seed);
  if (parts.empty()) {
    return {{}, "--partition: METIS did not cut the graph"};
  }
  return {owners_of(graph, parts, box, fluid), {}};
}

#else

bool has_metis() {
  return false;
}

Partition cut_by_metis(const Box&, const std::vector<std::uint8_t>&, int, std::uint64_t) {
  return {{}, "--partition: this program was built without libmetis; take slabs, or a file"};
}

#endif

}  // namespace particles
