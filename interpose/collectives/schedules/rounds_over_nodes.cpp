#include "interpose/collectives/schedules/rounds_over_nodes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "interpose/node/policy.hpp"

namespace penstock::interpose {
namespace {

/// Returns the blocks, by their ranks, that a rank brings to its node: from each other node those of its
/// counterparts.
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

/// The rank that sends the message to this one, and the ranks to which this one sends it.
struct Relay {
  int from = -1;  ///< none: the root
  std::vector<int> to;
};

/// The root's node is the first of the chain, and the root is that node's first rank in it.
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

RoundsSchedule allgather_over_nodes(const NodeMap& map, int rank, const GatheredBlocks& gathered) {
  const auto place = [&](int of) { return gathered.blocks[static_cast<std::size_t>(of)]; };
  const std::size_t node = map.node_of(rank);
  const std::size_t index = map.index_of(rank);
  const std::vector<int>& fellows = map.ranks_on(node);
  std::vector<std::vector<int>> brought;  // by each of them
  for (const int fellow : fellows) brought.push_back(brought_by(map, fellow));
  // calls function(a fellow, what it brings)
  const auto for_fellows = [&](auto function) {
    for_others(static_cast<int>(index), static_cast<int>(fellows.size()), [&](int other) {
      function(fellows[static_cast<std::size_t>(other)], brought[static_cast<std::size_t>(other)]);
    });
  };

  RoundsSchedule schedule;
  MessageSchedule& first = schedule.next_round();
  if (!gathered.is_in_place)
    first.keep(gathered.own, gathered.own_block, gathered.receive, place(rank), rank);
  for (const int source : brought[index]) first.receive(gathered.receive, place(source), source);
  for_fellows([&](int fellow, const auto&) { first.receive(gathered.receive, place(fellow), fellow); });
  for (std::size_t step = 1; step < map.nodes(); ++step) {
    const std::vector<int>& others = map.ranks_on((node + step) % map.nodes());
    first.send(gathered.own, gathered.own_block, others[index % others.size()]);
  }
  for_fellows([&](int fellow, const auto&) { first.send(gathered.own, gathered.own_block, fellow); });

  std::size_t most_brought = 0;
  for (const std::vector<int>& sources : brought) most_brought = std::max(most_brought, sources.size());
  const std::size_t at_a_time = std::max<std::size_t>(policy::most_messages_of_a_round / fellows.size(), 1);
  for (std::size_t begin = 0; begin < most_brought; begin += at_a_time) {
    MessageSchedule& next = schedule.next_round();
    const auto for_some = [&](const std::vector<int>& sources, auto function) {
      for (std::size_t i = begin; i < std::min(sources.size(), begin + at_a_time); ++i) function(sources[i]);
    };
    for_fellows([&](int fellow, const std::vector<int>& its) {
      for_some(its, [&](int source) { next.receive(gathered.receive, place(source), fellow); });
    });
    for_fellows([&](int fellow, const auto&) {
      for_some(brought[index], [&](int source) { next.send(gathered.receive, place(source), fellow); });
    });
  }
  return schedule;
}

RoundsSchedule broadcast_over_nodes(const NodeMap& map, int rank, int root, void* buffer, MPI_Count count,
                                    MPI_Datatype datatype) {
  const Relay relay = relay_of(map, rank, root);
  const std::vector<BlockPlace> pieces = pieces_of(count, datatype);
  // a relaying rank sends a piece while the next one arrives
  const bool hands_on = relay.from >= 0 && !relay.to.empty();
  const std::size_t at_a_time = hands_on ? 1 : policy::pieces_of_a_round;
  const std::size_t lag = hands_on ? 1 : 0;
  RoundsSchedule schedule;
  for (std::size_t begin = 0; begin < pieces.size() + lag; begin += at_a_time) {
    MessageSchedule& round = schedule.next_round();
    for (std::size_t piece = begin; piece < std::min(pieces.size() + lag, begin + at_a_time); ++piece) {
      if (relay.from >= 0 && piece < pieces.size()) round.receive(buffer, pieces[piece], relay.from);
      if (piece < lag) continue;
      for (const int to : relay.to) round.send(buffer, pieces[piece - lag], to);
    }
  }
  return schedule;
}

}  // namespace penstock::interpose
