// Collectives that only move bytes, over several nodes: each block crosses between two nodes once, and
// spreads within them. This header knows no MPI call.
#pragma once

#include <mpi.h>

#include <vector>

#include "interpose/collectives/schedules/collective_blocks.hpp"
#include "interpose/collectives/schedules/message_rounds.hpp"
#include "interpose/collectives/schedules/node_map.hpp"

namespace penstock::interpose {

/// A rank's block, and where the blocks of all ranks go.
struct GatheredBlocks {
  bool is_in_place;  ///< the own block is where it goes
  const void* own;
  BlockPlace own_block;
  void* receive;
  std::vector<BlockPlace> blocks;  ///< by rank
};
/// Plans to send all blocks to all ranks. The ranks of each node share what crosses between two nodes, so
/// that all of them send and receive.
[[nodiscard]] RoundsSchedule allgather_over_nodes(const NodeMap& map, int rank,
                                                  const GatheredBlocks& gathered);

/// Plans to send a root's message to all ranks, which must all give the same count and a datatype of the same
/// size: from node to node, in pieces, so that all nodes work at once, and from the first rank of each node
/// to its others.
[[nodiscard]] RoundsSchedule broadcast_over_nodes(const NodeMap& map, int rank, int root, void* buffer,
                                                  MPI_Count count, MPI_Datatype datatype);

}  // namespace penstock::interpose
