#include "interpose/collectives/schedules/node_map.hpp"

#include <algorithm>

#include "interpose/network/chunk_channel.hpp"

namespace penstock::interpose {

NodeMap::NodeMap(std::span<const int> node_of_rank) {
  std::vector<int> names;
  for (const int name : node_of_rank) {
    const auto known = std::ranges::find(names, name);
    const auto node = static_cast<std::size_t>(known - names.begin());
    if (known == names.end()) {
      names.push_back(name);
      ranks_.emplace_back();
    }
    const auto rank = static_cast<int>(places_.size());
    places_.push_back({node, ranks_[node].size()});
    ranks_[node].push_back(rank);
  }
}

bool NodeMap::is_even() const noexcept {
  return std::ranges::all_of(ranks_, [&](const std::vector<int>& ranks) {
    return ranks.size() > 1 && ranks.size() == ranks_.front().size();
  });
}

bool spans_nodes(MPI_Comm communicator, CommunicatorInfo& info) {
  if (!channel().is_open()) return false;
  if (info.span != Span::unknown) return info.span == Span::nodes;
  const std::vector<int> members = members_of(communicator, info);
  const bool spans = channel().spans(members);
  if (spans && !info.is_inter) {
    std::vector<int> nodes;
    nodes.reserve(members.size());
    for (const int member : members) nodes.push_back(channel().node_of(member));
    info.nodes = std::make_shared<const NodeMap>(nodes);
  }
  info.span = spans ? Span::nodes : Span::node;
  return spans;
}

const NodeMap* node_map_of(MPI_Comm communicator) {
  CommunicatorInfo* const info = peek_info(communicator);
  return info != nullptr && spans_nodes(communicator, *info) ? info->nodes.get() : nullptr;
}

}  // namespace penstock::interpose
