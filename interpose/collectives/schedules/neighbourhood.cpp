#include "interpose/collectives/schedules/neighbourhood.hpp"

#include <algorithm>
#include <cstddef>

namespace penstock::interpose {
namespace {

int topology_of(MPI_Comm communicator) noexcept {
  int topology = MPI_UNDEFINED;
  PMPI_Topo_test(communicator, &topology);
  return topology;
}

int dimensions_of(MPI_Comm grid) noexcept {
  int dimensions = 0;
  PMPI_Cartdim_get(grid, &dimensions);
  return dimensions;
}

std::vector<Neighbour> neighbours(const std::vector<int>& ranks) {
  std::vector<Neighbour> all;
  all.reserve(ranks.size());
  for (const int rank : ranks) all.push_back({rank});
  return all;
}

std::vector<int> ranks_of(const std::vector<Neighbour>& neighbours) {
  std::vector<int> ranks;
  ranks.reserve(neighbours.size());
  for (const Neighbour& one : neighbours) ranks.push_back(one.rank);
  return ranks;
}

bool are_all_different(std::vector<Neighbour> all) {
  std::erase_if(all, [](const Neighbour& one) { return one.rank == MPI_PROC_NULL; });
  std::ranges::sort(all, {}, &Neighbour::rank);
  return std::ranges::adjacent_find(all, {}, &Neighbour::rank) == all.end();
}

}  // namespace

NeighbourCounts count_neighbours(MPI_Comm communicator) noexcept {
  NeighbourCounts counts;
  const int topology = topology_of(communicator);
  if (topology == MPI_CART) {
    counts.sources = counts.destinations = 2 * dimensions_of(communicator);
  } else if (topology == MPI_GRAPH) {
    int rank = 0;
    PMPI_Comm_rank(communicator, &rank);
    PMPI_Graph_neighbors_count(communicator, rank, &counts.sources);
    counts.destinations = counts.sources;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted = 0;
    PMPI_Dist_graph_neighbors_count(communicator, &counts.sources, &counts.destinations, &weighted);
  }
  return counts;
}

int make_with_same_neighbours(MPI_Comm communicator, int own_rank, MPI_Comm* made) {
  constexpr int keeps_order = 0;
  const int topology = topology_of(communicator);
  if (topology == MPI_CART) {
    const int dimensions = dimensions_of(communicator);
    const auto length = static_cast<std::size_t>(dimensions);
    std::vector<int> extents(length);
    std::vector<int> periods(length);
    std::vector<int> own_place(length);
    PMPI_Cart_get(communicator, dimensions, extents.data(), periods.data(), own_place.data());
    return PMPI_Cart_create(communicator, dimensions, extents.data(), periods.data(), keeps_order, made);
  }
  if (topology == MPI_GRAPH) {
    int nodes = 0;
    int edges = 0;
    PMPI_Graphdims_get(communicator, &nodes, &edges);
    std::vector<int> ends(static_cast<std::size_t>(nodes));
    std::vector<int> neighbours(static_cast<std::size_t>(edges) + 1);  // none may be null
    PMPI_Graph_get(communicator, nodes, edges, ends.data(), neighbours.data());
    return PMPI_Graph_create(communicator, nodes, ends.data(), neighbours.data(), keeps_order, made);
  }
  if (topology == MPI_DIST_GRAPH) {
    const Neighbourhood all = Neighbourhood::of(communicator, own_rank);
    const std::vector<int> from = ranks_of(all.sources());
    const std::vector<int> to = ranks_of(all.destinations());
    // weights have no effect without a new order, but MPICH's MPI_UNWEIGHTED is an object; neither may be
    // null
    const std::vector<int> weights(std::max(from.size(), to.size()) + 1, 1);
    return PMPI_Dist_graph_create_adjacent(communicator, static_cast<int>(from.size()), from.data(),
                                           weights.data(), static_cast<int>(to.size()), to.data(),
                                           weights.data(), MPI_INFO_NULL, keeps_order, made);
  }
  return PMPI_Comm_split(communicator, 0, own_rank, made);
}

Neighbourhood Neighbourhood::of(MPI_Comm communicator, int own_rank) {
  Neighbourhood all;
  all.own_rank_ = own_rank;
  const int topology = topology_of(communicator);
  if (topology == MPI_CART) all.add_grid(communicator);
  if (topology == MPI_GRAPH) all.add_graph(communicator);
  if (topology == MPI_DIST_GRAPH) all.add_distributed_graph(communicator);
  return all;
}

/// Adds the neighbours on a Cartesian grid. A block for the lower neighbour of a dimension arrives there from
/// the upper one.
void Neighbourhood::add_grid(MPI_Comm communicator) {
  constexpr int downwards = 0;
  constexpr int upwards = 1;
  for (int dimension = 0; dimension < dimensions_of(communicator); ++dimension) {
    int lower = MPI_PROC_NULL;
    int upper = MPI_PROC_NULL;
    if (PMPI_Cart_shift(communicator, dimension, 1, &lower, &upper) != MPI_SUCCESS) return;
    sources_.push_back({lower, upwards});
    sources_.push_back({upper, downwards});
    destinations_.push_back({lower, downwards});
    destinations_.push_back({upper, upwards});
    if (lower == own_rank_) ++dimensions_to_itself_;
  }
  is_grid_ = true;
  are_all_different_ = are_all_different(sources_);
}

void Neighbourhood::add_graph(MPI_Comm communicator) {
  const int count = count_neighbours(communicator).sources;
  std::vector<int> ranks(static_cast<std::size_t>(count));
  if (PMPI_Graph_neighbors(communicator, own_rank_, count, ranks.data()) != MPI_SUCCESS) return;
  sources_ = destinations_ = neighbours(ranks);
  are_all_different_ = are_all_different(sources_);
}

void Neighbourhood::add_distributed_graph(MPI_Comm communicator) {
  const NeighbourCounts counts = count_neighbours(communicator);
  std::vector<int> from(static_cast<std::size_t>(counts.sources));
  std::vector<int> to(static_cast<std::size_t>(counts.destinations));
  std::vector<int> from_weights(from.size());
  std::vector<int> to_weights(to.size());
  if (PMPI_Dist_graph_neighbors(communicator, counts.sources, from.data(), from_weights.data(),
                                counts.destinations, to.data(), to_weights.data()) != MPI_SUCCESS) {
    return;
  }
  sources_ = neighbours(from);
  destinations_ = neighbours(to);
  are_all_different_ = are_all_different(sources_) && are_all_different(destinations_);
}

}  // namespace penstock::interpose
