#include "interpose/collectives/rounds_over_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "interpose/node/policy.hpp"

namespace penstock::interpose {
namespace {

/// The blocks that a rank brings to its node, by their ranks: of each other node's, those of the ranks whose
/// counterpart it is.
std::vector<int> brought_by(const NodeMap& map, int rank) {
  const std::size_t node = map.node_of(rank);
  const std::size_t ranks = map.ranks_on(node).size();
  std::vector<int> brought;
  for (std::size_t other = 0; other < map.nodes(); ++other) {
    if (other == node) continue;
    for (const int source : map.ranks_on(other)) {
      if (map.index_of(source) % ranks == map.index_of(rank)) brought.push_back(source);
    }
  }
  return brought;
}

/// Where a node's message comes from and goes to.
struct Relay {
  int from = -1;  ///< none: the root
  std::vector<int> to;
};

/// The root's node is the first of the chain, and the root the first rank of it.
Relay relay_of(const NodeMap& map, int rank, int root) {
  const auto speaker = [&](std::size_t node) {
    return node == map.node_of(root) ? root : map.ranks_on(node).front();
  };
  const std::size_t node = map.node_of(rank);
  if (rank != speaker(node)) return {speaker(node), {}};
  Relay relay;
  if (rank != root) relay.from = speaker((node + map.nodes() - 1) % map.nodes());
  const std::size_t next = (node + 1) % map.nodes();
  if (next != map.node_of(root)) relay.to.push_back(speaker(next));
  std::ranges::copy_if(map.ranks_on(node), std::back_inserter(relay.to),
                       [&](int other) { return other != rank; });
  return relay;
}

std::vector<BlockPlace> pieces_of(MPI_Count count, MPI_Datatype datatype) {
  const auto element_bytes = static_cast<MPI_Count>(std::max<std::uint64_t>(payload_bytes(1, datatype), 1));
  const MPI_Count each = std::max<MPI_Count>(policy::broadcast_piece_bytes / element_bytes, 1);
  std::vector<BlockPlace> pieces;
  for (MPI_Count first = 0; first < count; first += each) {
    pieces.push_back(
        {std::min(each, count - first), datatype, static_cast<std::ptrdiff_t>(first) * extent_of(datatype)});
  }
  return pieces;
}

}  // namespace

RoundsPlan allgather_over_nodes(const NodeMap& map, int rank, const GatheredBlocks& gathered) {
  const auto place = [&](int of) { return gathered.blocks[static_cast<std::size_t>(of)]; };
  const std::size_t node = map.node_of(rank);
  const std::vector<int>& fellows = map.ranks_on(node);
  const auto for_fellows = [&](auto function) {
    for_others(static_cast<int>(map.index_of(rank)), static_cast<int>(fellows.size()),
               [&](int index) { function(fellows[static_cast<std::size_t>(index)]); });
  };
  const std::vector<int> brought = brought_by(map, rank);

  RoundsPlan plan;
  MessagePlan& first = plan.next_round();
  if (gathered.own != gathered.receive)
    first.keep(gathered.own, gathered.own_block, gathered.receive, place(rank), rank);
  for (const int source : brought) first.receive(gathered.receive, place(source), source);
  for_fellows([&](int fellow) { first.receive(gathered.receive, place(fellow), fellow); });
  for (std::size_t step = 1; step < map.nodes(); ++step) {
    const std::vector<int>& others = map.ranks_on((node + step) % map.nodes());
    first.send(gathered.own, gathered.own_block, others[map.index_of(rank) % others.size()]);
  }
  for_fellows([&](int fellow) { first.send(gathered.own, gathered.own_block, fellow); });

  MessagePlan& second = plan.next_round();
  for_fellows([&](int fellow) {
    for (const int source : brought_by(map, fellow)) second.receive(gathered.receive, place(source), fellow);
  });
  for_fellows([&](int fellow) {
    for (const int source : brought) second.send(gathered.receive, place(source), fellow);
  });
  return plan;
}

RoundsPlan broadcast_over_nodes(const NodeMap& map, int rank, int root, void* buffer, MPI_Count count,
                                MPI_Datatype datatype) {
  const Relay relay = relay_of(map, rank, root);
  const std::vector<BlockPlace> pieces = pieces_of(count, datatype);
  RoundsPlan plan;
  if (relay.from < 0 || relay.to.empty()) {
    MessagePlan& all = plan.next_round();
    for (const BlockPlace& piece : pieces) {
      if (relay.from >= 0) all.receive(buffer, piece, relay.from);
      for (const int to : relay.to) all.send(buffer, piece, to);
    }
    return plan;
  }
  for (std::size_t round = 0; round <= pieces.size(); ++round) {
    MessagePlan& both = plan.next_round();
    if (round < pieces.size()) both.receive(buffer, pieces[round], relay.from);
    if (round == 0) continue;
    for (const int to : relay.to) both.send(buffer, pieces[round - 1], to);
  }
  return plan;
}

}  // namespace penstock::interpose
