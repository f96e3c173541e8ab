// This header maps the ranks of a communicator that spans several nodes to their nodes: a collective moves as
// much as possible within a node, and crosses between nodes once. It knows no collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "interpose/calls/communicators.hpp"

namespace penstock::interpose {

/// The same on all ranks of the communicator. Ranks are the communicator's; nodes are counted in the order of
/// their first ranks.
class NodeMap {
 public:
  /// `node_of_rank`: by rank, any number that identifies its node.
  explicit NodeMap(std::span<const int> node_of_rank);

  [[nodiscard]] std::size_t nodes() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t node_of(int rank) const noexcept {
    return places_[static_cast<std::size_t>(rank)].node;
  }
  /// In ascending order.
  [[nodiscard]] const std::vector<int>& ranks_on(std::size_t node) const noexcept { return ranks_[node]; }
  /// Returns the rank's index among those of its node.
  [[nodiscard]] std::size_t index_of(int rank) const noexcept {
    return places_[static_cast<std::size_t>(rank)].index;
  }
  /// Returns whether every node has several ranks, and all have equally many.
  [[nodiscard]] bool is_even() const noexcept;

 private:
  struct Place {
    std::size_t node;
    std::size_t index;
  };
  std::vector<std::vector<int>> ranks_;  ///< by node
  std::vector<Place> places_;            ///< by rank
};

/// Returns whether some of its ranks are on different nodes, and all ranks of the job take part between nodes
/// (network/chunk_channel.hpp). The same on all ranks. Cost, after the first time: some loads.
[[nodiscard]] bool spans_nodes(MPI_Comm communicator, CommunicatorInfo& info);

/// Null: the communicator does not span nodes, or is an intercommunicator. Valid as long as the communicator.
[[nodiscard]] const NodeMap* node_map_of(MPI_Comm communicator);

}  // namespace penstock::interpose
