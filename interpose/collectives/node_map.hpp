// Which ranks of a communicator share a node, where it spans several: as much as possible of a collective
// goes within a node, and what crosses goes once. Knows no collective.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "interpose/calls/communicators.hpp"

namespace penstock::interpose {

/// The same on all ranks of the communicator. Ranks are the communicator's, nodes are counted in the order of
/// their first ranks.
class NodeMap {
 public:
  /// `node_of_rank`: any number that tells a node from others, by rank.
  explicit NodeMap(std::span<const int> node_of_rank);

  [[nodiscard]] std::size_t nodes() const noexcept { return ranks_.size(); }
  [[nodiscard]] std::size_t node_of(int rank) const noexcept {
    return places_[static_cast<std::size_t>(rank)].node;
  }
  /// In ascending order.
  [[nodiscard]] const std::vector<int>& ranks_on(std::size_t node) const noexcept { return ranks_[node]; }
  /// Which of its node's ranks that is.
  [[nodiscard]] std::size_t index_of(int rank) const noexcept {
    return places_[static_cast<std::size_t>(rank)].index;
  }
  /// Every node has several ranks, and as many as any other.
  [[nodiscard]] bool is_even() const noexcept;

 private:
  struct Place {
    std::size_t node;
    std::size_t index;
  };
  std::vector<std::vector<int>> ranks_;  ///< by node
  std::vector<Place> places_;            ///< by rank
};

/// Some of its ranks are on different nodes, and all ranks of the job take part between nodes
/// (network/channel.hpp). The same on all of them. Cost, but for the first time: some loads.
[[nodiscard]] bool spans_nodes(MPI_Comm communicator, CommunicatorInfo& info);

/// Null: it does not span nodes, or is an intercommunicator. Valid while the communicator is.
[[nodiscard]] const NodeMap* node_map_of(MPI_Comm communicator);

}  // namespace penstock::interpose
