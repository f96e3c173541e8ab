// A breadth-first search over all ranks: level by level the frontier is exchanged along the grid's columns
// ("expand"), its edges are followed, and what was found goes along the grid's rows to its owners ("fold").
// A vertex's parent is its neighbour with the lowest number among those a level nearer to the root: each rank
// notes the lowest that it knows, and owners choose at the end. So the tree does not depend on how many ranks
// there are, and no parents are sent while it grows.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "examples/bfs/bitmap_kernels.hpp"
#include "examples/bfs/communicators.hpp"
#include "examples/bfs/direction.hpp"
#include "examples/bfs/frontier_exchange.hpp"
#include "examples/bfs/graph.hpp"
#include "examples/bfs/search_kernels.hpp"

namespace bfs {

/// How to search; none of it changes what is found.
struct Plan {
  Direction direction = Direction::optimising;
  example::Exchange exchange = example::Exchange::device;
  std::int64_t most_listed = 0;  ///< larger sets of vertices are sent as bitmaps
};

/// Of the part of the graph that was reached.
struct Reached {
  std::int64_t vertices = 0;
  std::int64_t input_edges = 0;  ///< undirected, loops and doubles counted as often as they were generated
  int levels = 0;
  int bottom_up_levels = 0;
};

class Search {
 public:
  /// The graph must outlive it. Collective.
  Search(const Graph& graph, const Plan& plan, MPI_Comm communicator);

  /// Device memory that it allocates.
  [[nodiscard]] static std::int64_t device_bytes(const Partition& partition, const Plan& plan);

  /// Collective. The tree of the last one is forgotten.
  Reached run(std::int64_t root);

  /// Of own vertices, in device memory: levels (no_level where not reached) and parents (not_in_tree), the
  /// root being its own.
  [[nodiscard]] Level* levels() const { return source_levels_.get() + graph_.partition().own_sources(); }
  [[nodiscard]] std::int64_t* parents() const { return parents_.get(); }
  /// A number that depends on the whole tree. Collective, the same on all ranks.
  [[nodiscard]] std::uint64_t tree_hash();
  /// By this rank, in all searches, for frontiers.
  [[nodiscard]] std::int64_t sent_bytes() const { return expand_.sent_bytes() + fold_.sent_bytes(); }

 private:
  void start(std::int64_t root);
  void exchange_sizes();
  void choose_direction(std::int64_t frontier, std::int64_t frontier_edge_ends,
                        std::int64_t unexplored_edge_ends);
  void expand(Level level);
  void look_top_down();
  void look_bottom_up();
  void fold();
  void drop_late_candidates();
  void choose_parents(std::int64_t root);
  [[nodiscard]] std::uint32_t* own_frontier() const;
  [[nodiscard]] std::uint32_t* own_seen() const;

  const Graph& graph_;
  Direction direction_;
  Communicators communicators_;
  FrontierExchange expand_;
  FrontierExchange fold_;
  example::Exchanger row_exchanger_;
  Unpacker unpacker_;
  TopDown top_down_;
  example::Stream stream_{example::Priority::normal};

  example::DeviceArray<std::uint32_t> frontier_;  ///< of sources, a bit each
  example::DeviceArray<std::uint32_t> list_;      ///< the same as numbers
  example::DeviceArray<std::uint32_t> seen_;   ///< of targets: own ones reached or without edges, others sent
  example::DeviceArray<std::uint32_t> found_;  ///< of targets, in this level
  example::DeviceArray<Level> source_levels_;
  example::DeviceArray<Level> target_levels_;
  example::DeviceArray<std::uint32_t> own_candidates_;  ///< for parents, of targets
  example::DeviceArray<std::uint32_t> candidates_;      ///< of own vertices, by all ranks of the row
  example::DeviceArray<std::int64_t> parents_;
  example::DeviceArray<FrontierSize> size_{1};
  example::DeviceArray<unsigned long long> hash_{1};
  example::PinnedArray<FrontierSize> own_size_{1};
  std::vector<FrontierSize> sizes_;  ///< of all ranks' own frontiers
  bool is_bottom_up_ = false;
};

}  // namespace bfs
