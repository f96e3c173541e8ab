// Collectives that only move bytes, over several nodes: each block crosses between two nodes once, and
// spreads within them. Knows no MPI call that asks for one.
#pragma once

#include <mpi.h>

#include <vector>

#include "interpose/collectives/collective_blocks.hpp"
#include "interpose/collectives/message_rounds.hpp"
#include "interpose/collectives/node_map.hpp"

namespace penstock::interpose {

/// A rank's block, and where everybody's go.
struct GatheredBlocks {
  bool is_in_place;  ///< the own one is where it goes
  const void* own;
  BlockPlace own_block;
  void* receive;
  std::vector<BlockPlace> blocks;  ///< by rank
};
/// All blocks to all ranks: what crosses between two nodes is shared among the ranks of each, so that all of
/// them send and receive.
[[nodiscard]] RoundsPlan allgather_over_nodes(const NodeMap& map, int rank, const GatheredBlocks& gathered);

/// A root's message to all ranks, of which all must give the same count and as large a datatype: from node to
/// node, in pieces, so that all are at it at once, and from the first rank of each node to its others.
[[nodiscard]] RoundsPlan broadcast_over_nodes(const NodeMap& map, int rank, int root, void* buffer,
                                              MPI_Count count, MPI_Datatype datatype);

}  // namespace penstock::interpose
