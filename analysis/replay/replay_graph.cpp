#include "analysis/replay/replay_graph.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>
#include <queue>
#include <tuple>

#include "analysis/replay/stream_waits.hpp"

namespace penstock::analysis {
namespace {

/// Returns the longest time from a kernel's end until a host that waits for it continues.
std::uint64_t notice_ns(bool is_simulated) {
  return is_simulated ? 1'000'000 : 30'000;
}

}  // namespace

std::uint64_t ReplayGraph::reference_ns(const RankTrace& rank, std::uint64_t time_ns) const {
  return index_.clocks().convert(time_ns, index_.host_of(rank), 0);
}

NodeId ReplayGraph::add_node(const Node& node) {
  nodes_.push_back(node);
  return static_cast<NodeId>(nodes_.size() - 1);
}

/// Returns the last node at or before a moment.
NodeId ReplayGraph::last_before(const std::vector<NodeId>& nodes, std::uint64_t time_ns) const {
  const auto behind =
      std::upper_bound(nodes.begin(), nodes.end(), time_ns,
                       [this](std::uint64_t time, NodeId node) { return time < nodes_[node].observed_ns; });
  return behind == nodes.begin() ? none : *(behind - 1);
}

RankLayout ReplayGraph::add(const RankTrace& rank, std::size_t position, const Timeline& timeline,
                            Interval window, CauseFinder& finder, const SiteOfCall& site_of_call) {
  ranks_.resize(std::max(ranks_.size(), position + 1));
  is_simulated_ = is_simulated_ || rank.has(trace::feature::simulated);
  ends_.resize(ranks_.size(), none);
  position_of_rank_[rank.header.world_rank] = position;
  RankNodes& own = ranks_[position];
  const auto at = [&](std::uint64_t time_ns) { return reference_ns(rank, time_ns); };

  const NodeId start =
      add_node({.observed_ns = at(window.begin_ns), .position = static_cast<std::uint32_t>(position)});
  std::vector<RankLayout::HostItem> items;  // calls and synchronisations
  add_calls(rank, position, timeline, finder, site_of_call, items);
  const std::unordered_map<std::size_t, NodeId> synchronisations =
      add_synchronisations(rank, position, window, items);
  std::sort(items.begin(), items.end(), [this](const auto& left, const auto& right) {
    return std::tie(nodes_[left.begin].observed_ns, nodes_[left.end].observed_ns) <
           std::tie(nodes_[right.begin].observed_ns, nodes_[right.end].observed_ns);
  });
  // The host does one thing after the other. What lies within another (a synchronisation inside a call) is
  // part of it.
  RankLayout layout;
  own.host.push_back(start);
  for (const RankLayout::HostItem& item : items) {
    if (nodes_[item.begin].observed_ns >= nodes_[own.host.back()].observed_ns) {
      loose_edges_.push_back({item.begin, {.from = own.host.back(), .lag_ns = 0}});
      loose_edges_.push_back({item.end, {.from = item.begin, .lag_ns = 0}});
      own.host.push_back(item.begin);
      own.host.push_back(item.end);
      layout.host.push_back(item);
    }
  }
  const NodeId end = add_node(
      {.observed_ns = at(window.end_ns), .position = static_cast<std::uint32_t>(position), .ends = true});
  loose_edges_.push_back({end, {.from = own.host.back(), .lag_ns = 0}});
  own.host.push_back(end);
  ends_[position] = end;
  observed_begin_ns_ = std::min(observed_begin_ns_, nodes_[start].observed_ns);
  observed_end_ns_ = std::max(observed_end_ns_, nodes_[end].observed_ns);
  layout.kernels = add_kernels(rank, position, window, synchronisations);
  layout.host.push_back({end, end, RankTrace::no_call});
  return layout;
}

void ReplayGraph::add_calls(const RankTrace& rank, std::size_t position, const Timeline& timeline,
                            CauseFinder& finder, const SiteOfCall& site_of_call,
                            std::vector<RankLayout::HostItem>& items) {
  for (const HostSegment& segment : timeline.host_segments) {
    const trace::MpiCall& call = rank.calls[segment.call].record;
    Node begin{.observed_ns = reference_ns(rank, segment.begin_ns),
               .position = static_cast<std::uint32_t>(position)};
    Node end{.observed_ns = reference_ns(rank, segment.end_ns),
             .position = static_cast<std::uint32_t>(position),
             .site = site_of_call(segment.call),
             .work = Work::communication,
             .ends = true};
    std::map<std::uint32_t, std::uint64_t> moving_of_class;
    for (const CauseSpan& span : finder.explain(segment.call)) {
      if (span.cause == Cause::wire || span.cause == Cause::staging) {
        end.moving_ns += span.end_ns - span.begin_ns;
        moving_of_class[span.counterpart.message_class] += span.end_ns - span.begin_ns;
      }
    }
    moving_of_class.erase(MessageClasses::no_message);
    std::uint64_t most_ns = 0;  // if there are several, the one that takes longest stands for all
    for (const auto& [message_class, moving_ns] : moving_of_class) {
      if (moving_ns > most_ns) {
        most_ns = moving_ns;
        end.message_class = message_class;
      }
    }
    if (const std::optional<Arrivals> arrivals = index_.arrivals_at(rank, call);
        arrivals && arrivals->one_clock) {
      begin.collective = collective_id(rank, call.communicator, call.collective_ordinal);
      begin.waits_for_root = call.peer == rank.header.world_rank;  // this rank is the root
      if (call.waits != 0) {
        end.collective = begin.collective;
        end.waits_for_root = arrivals->root_ns != 0 && flows_from_root(rank.strings.at(call.function));
      }
    }
    wait_for_operations(rank, finder.operations_of(segment.call), end);
    const NodeId begin_id = add_node(begin);
    const NodeId end_id = add_node(end);
    items.push_back({begin_id, end_id, segment.call});
    for (const AwaitedMoment& wait : finder.waits_of(segment.call)) {
      moments_.push_back(
          {end_id, wait.rank, reference_ns(rank, wait.time_ns), wait.of_gpu, wait.is_progress});
    }
  }
}

std::uint32_t ReplayGraph::collective_id(const RankTrace& rank, std::uint32_t communicator,
                                         std::uint32_t ordinal) {
  return collective_ids_
      .try_emplace({rank.global_communicator(communicator), ordinal},
                   static_cast<std::uint32_t>(collective_ids_.size()))
      .first->second;
}

/// Makes a call wait for the operation whose last rank arrived last: ranks arrive at a communicator's
/// operations in one order.
void ReplayGraph::wait_for_operations(const RankTrace& rank, std::span<const std::uint32_t> operations,
                                      Node& end) {
  std::uint64_t last_ns = 0;
  for (const std::uint32_t each : operations) {
    const trace::CollectiveOperation& operation = rank.operations[each].record;
    if (operation.start != 0) {
      continue;  // one call, which is one node, may start several: such a wait keeps its length
    }
    const std::optional<Arrivals> arrivals = index_.arrivals_at(rank, operation);
    if (!arrivals || !arrivals->one_clock || arrivals->last_ns > operation.complete_ns ||
        arrivals->last_ns < last_ns) {
      continue;
    }
    last_ns = arrivals->last_ns;
    end.collective = collective_id(rank, operation.communicator, operation.collective_ordinal);
    end.waits_for_root = arrivals->root_ns != 0 && flows_from_root(rank.strings.at(operation.function));
  }
}

std::unordered_map<std::size_t, NodeId> ReplayGraph::add_synchronisations(
    const RankTrace& rank, std::size_t position, Interval window, std::vector<RankLayout::HostItem>& items) {
  std::unordered_map<std::size_t, NodeId> ends;
  for (std::size_t i = 0; i < rank.synchronisations.size(); ++i) {
    const trace::CudaSynchronisation& each = rank.synchronisations[i];
    if (each.own != 0 || each.begin_ns < window.begin_ns || each.end_ns > window.end_ns ||
        rank.is_stream_wait(each)) {
      continue;
    }
    Node node{.observed_ns = reference_ns(rank, each.begin_ns),
              .position = static_cast<std::uint32_t>(position)};
    const NodeId begin = add_node(node);
    node.observed_ns = reference_ns(rank, each.end_ns);
    node.ends = true;
    const NodeId end = add_node(node);
    items.push_back({begin, end, RankTrace::no_call});
    moments_.push_back({end, rank.header.world_rank, nodes_[end].observed_ns, true});
    ends.emplace(i, end);
  }
  return ends;
}

/// Sorts nodes by observed time; among equal times, predecessors come first (Kahn's algorithm, earliest
/// first). Nodes of a cycle, which only a damaged recording can have, come last.
void ReplayGraph::sort_nodes() {
  std::vector<std::uint32_t> first_follower(nodes_.size() + 1, 0);
  std::vector<std::uint32_t> waits_for(nodes_.size(), 0);
  for (const Edge& edge : edges_) {
    ++first_follower[edge.from + 1];
  }
  std::partial_sum(first_follower.begin(), first_follower.end(), first_follower.begin());
  std::vector<NodeId> followers(edges_.size());
  std::vector<std::uint32_t> next = first_follower;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    waits_for[id] = nodes_[id].edges;
    for (const Edge& edge : std::span(edges_).subspan(nodes_[id].first_edge, nodes_[id].edges)) {
      followers[next[edge.from]++] = id;
    }
  }
  // Among nodes that are ready at the same time, begins precede ends: a begin may be the arrival at a
  // collective that others leave at that moment.
  using Ready = std::tuple<std::uint64_t, bool, NodeId>;
  std::priority_queue<Ready, std::vector<Ready>, std::greater<>> ready;
  std::vector<bool> is_done(nodes_.size(), false);
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (waits_for[id] == 0) {
      ready.emplace(nodes_[id].observed_ns, nodes_[id].ends, id);
    }
  }
  while (!ready.empty()) {
    const NodeId id = std::get<NodeId>(ready.top());
    ready.pop();
    order_.push_back(id);
    is_done[id] = true;
    for (std::uint32_t i = first_follower[id]; i < first_follower[id + 1]; ++i) {
      if (--waits_for[followers[i]] == 0) {
        ready.emplace(nodes_[followers[i]].observed_ns, nodes_[followers[i]].ends, followers[i]);
      }
    }
  }
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    if (!is_done[id]) {
      order_.push_back(id);
    }
  }
}

/// Makes edges of the moments, and sorts all edges by the node that they lead to.
void ReplayGraph::connect() {
  for (const Moment& moment : moments_) {
    const auto position = position_of_rank_.find(moment.rank);
    if (position == position_of_rank_.end()) {
      continue;  // a rank without a recording, or one that is not counted
    }
    const RankNodes& other = ranks_[position->second];
    const NodeId from = last_before(moment.of_kernel ? other.kernels : other.host, moment.time_ns);
    if (from == none || from == moment.node) {
      continue;
    }
    const std::uint64_t lag_ns = moment.time_ns - nodes_[from].observed_ns;
    if (!moment.of_kernel || lag_ns <= notice_ns(is_simulated_)) {
      loose_edges_.push_back(
          {moment.node,
           {.from = from, .is_progress = moment.is_progress, .lag_ns = moment.of_kernel ? 0 : lag_ns}});
    }
  }
  std::stable_sort(loose_edges_.begin(), loose_edges_.end(),
                   [](const auto& left, const auto& right) { return left.first < right.first; });
  for (const auto& [to, edge] : loose_edges_) {
    Node& node = nodes_[to];
    const std::uint64_t limit_ns = node.observed_ns - (node.work == Work::kernel ? node.work_ns : 0);
    if (edge.from == to || nodes_[edge.from].observed_ns > limit_ns ||
        node.edges == std::numeric_limits<std::uint16_t>::max()) {
      ++edges_left_out_;
      continue;
    }
    if (node.edges == 0) {
      node.first_edge = static_cast<std::uint32_t>(edges_.size());
    }
    ++node.edges;
    edges_.push_back(edge);
    edges_.back().lag_ns = std::min(edge.lag_ns, limit_ns - nodes_[edge.from].observed_ns);
  }
  loose_edges_ = {};
  moments_ = {};
}

void ReplayGraph::join() {
  connect();
  sort_nodes();
  collectives_.resize(collective_ids_.size());
  times_ns_.assign(nodes_.size(), 0);
  measure_work();
}

/// Computes each node's work: the rest of its time after the latest of what it waited for.
void ReplayGraph::measure_work() {
  std::vector<bool> has_come(nodes_.size(), false);
  collectives_.assign(collectives_.size(), {});
  for (const NodeId id : order_) {
    Node& node = nodes_[id];
    std::uint64_t ready_ns = 0;
    for (Edge& edge : std::span(edges_).subspan(node.first_edge, node.edges)) {
      if (!has_come[edge.from]) {
        ++edges_left_out_;
        edge.from = id;  // part of a cycle: it waits for nothing
        continue;
      }
      ready_ns = std::max(ready_ns, nodes_[edge.from].observed_ns + edge.lag_ns);
    }
    if (node.collective != none) {
      Collective& collective = collectives_[node.collective];
      if (!node.ends) {
        collective.all_came_ns = node.observed_ns;
        collective.root_came_ns = node.waits_for_root ? node.observed_ns : collective.root_came_ns;
      } else {
        ready_ns = std::max(ready_ns, node.waits_for_root ? collective.root_came_ns : collective.all_came_ns);
      }
    }
    if (node.work != Work::kernel) {
      node.work_ns = ready_ns == 0 ? 0 : node.observed_ns - std::min(ready_ns, node.observed_ns);
      node.moving_ns = std::min(node.moving_ns, node.work_ns);
    }
    has_come[id] = true;
  }
}

}  // namespace penstock::analysis
