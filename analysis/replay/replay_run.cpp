// The part of ReplayGraph that runs it.
#include <algorithm>
#include <cmath>

#include "analysis/replay/replay_graph.hpp"

namespace penstock::analysis {
namespace {

std::uint64_t scaled(std::uint64_t time_ns, double factor) {
  return factor == 1.0 ? time_ns
                       : static_cast<std::uint64_t>(std::llround(static_cast<double>(time_ns) * factor));
}

double factor_of(const std::vector<double>& factors, std::size_t index) {
  return index < factors.size() ? factors[index] : 1.0;
}

bool has(const std::vector<bool>& flags, std::size_t index) {
  return index < flags.size() && flags[index];
}

}  // namespace

/// Returns true for a call that is gone with the messages: each that is no collective.
bool ReplayGraph::is_gone(const Scenario& scenario, const Node& node) {
  return scenario.without_messages && node.work == Work::communication && node.collective == none;
}

/// Returns a node's work, with what the scenario says of it.
std::uint64_t ReplayGraph::work_in(const Scenario& scenario, NodeId id) const {
  const Node& node = nodes_[id];
  if (!scenario.work_ns.empty()) {
    if (const auto other = scenario.work_ns.find(id); other != scenario.work_ns.end()) {
      return other->second;
    }
  }
  if (node.work == Work::communication) {
    const double factor = factor_of(scenario.moving, node.message_class);
    return scenario.free_communication || is_gone(scenario, node)
               ? 0
               : node.work_ns - node.moving_ns + scaled(node.moving_ns, factor);
  }
  if (node.work == Work::kernel) {
    return scaled(scaled(node.work_ns, factor_of(scenario.computing, node.position)),
                  factor_of(scenario.kernels, node.position));
  }
  std::uint64_t work_ns = node.work_ns;
  if (node.position < scenario.without_host.size()) {
    work_ns -=
        scenario.without_host[node.position].measure_within_ns(node.observed_ns - work_ns, node.observed_ns);
  }
  return scaled(work_ns, factor_of(scenario.computing, node.position));
}

/// Returns true for an edge that the scenario does without.
bool ReplayGraph::is_left_out(const Scenario& scenario, const Node& node, const Edge& edge) const {
  const Node& from = nodes_[edge.from];
  if (edge.is_progress && scenario.messages_progress) {
    return true;
  }
  if (is_gone(scenario, node)) {  // of what it waited for, only its own host's last call is left
    return from.work == Work::kernel || from.position != node.position;
  }
  if (node.work != Work::communication) {
    return false;
  }
  return (from.work == Work::kernel && has(scenario.ready_data, node.site)) ||
         (node.collective != none && from.position != node.position &&
          has(scenario.without_collective, node.collective));
}

/// Returns an edge's lag. Behind a host's node (a post that is no call of its own, a kernel that is launched
/// later) it is host code as other is, but for the launch.
std::uint64_t ReplayGraph::lag_in(const Scenario& scenario, const Edge& edge) const {
  const Node& from = nodes_[edge.from];
  if (edge.lag_ns == 0 || from.work == Work::kernel) {
    return edge.lag_ns;
  }
  const std::uint64_t launch_ns = std::min<std::uint64_t>(edge.launch_ns, edge.lag_ns);
  std::uint64_t host_ns = edge.lag_ns - launch_ns;
  if (from.position < scenario.without_host.size()) {
    host_ns -=
        scenario.without_host[from.position].measure_within_ns(from.observed_ns, from.observed_ns + host_ns);
  }
  return scaled(host_ns, factor_of(scenario.computing, from.position)) + launch_ns;
}

void ReplayGraph::run(const Scenario& scenario, std::vector<NodeId>* binding) {
  if (binding != nullptr) {
    binding->assign(nodes_.size(), none);
  }
  collectives_.assign(collectives_.size(), {});
  for (const NodeId id : order_) {
    const Node& node = nodes_[id];
    std::uint64_t ready_ns = 0;
    NodeId last = none;
    const auto consider = [&](std::uint64_t time_ns, NodeId from) {
      if (time_ns >= ready_ns || last == none) {
        ready_ns = std::max(time_ns, ready_ns);
        last = from;
      }
    };
    for (const Edge& edge : std::span(edges_).subspan(node.first_edge, node.edges)) {
      if (edge.from != id && !is_left_out(scenario, node, edge)) {
        consider(times_ns_[edge.from] + lag_in(scenario, edge), edge.from);
      }
    }
    const bool is_there = node.collective == none || !has(scenario.without_collective, node.collective);
    const std::uint64_t work_ns = is_there || node.work != Work::communication ? work_in(scenario, id) : 0;
    if (node.collective != none && is_there) {
      Collective& collective = collectives_[node.collective];
      if (node.ends) {
        const bool for_root = node.waits_for_root;
        const NodeId from = for_root ? collective.root : collective.last;
        if (from != none) {
          consider(for_root ? collective.root_came_ns : collective.all_came_ns, from);
        }
      }
    }
    if (last == none) {  // it waited for nothing that is known
      ready_ns = node.observed_ns - (node.work == Work::kernel ? node.work_ns : 0);
    }
    times_ns_[id] = ready_ns + work_ns;
    if (!scenario.beside.empty()) {
      const auto beside = std::lower_bound(scenario.beside.begin(), scenario.beside.end(), id,
                                           [](const Beside& each, NodeId end) { return each.end < end; });
      if (beside != scenario.beside.end() && beside->end == id) {
        times_ns_[id] = std::max(times_ns_[id], times_ns_[beside->begin] + beside->time_ns);
      }
    }
    if (node.collective != none && !node.ends) {
      Collective& collective = collectives_[node.collective];
      if (times_ns_[id] >= collective.all_came_ns) {
        collective.all_came_ns = times_ns_[id];
        collective.last = id;
      }
      if (node.waits_for_root) {
        collective.root_came_ns = times_ns_[id];
        collective.root = id;
      }
    }
    if (binding != nullptr) {
      (*binding)[id] = last;
    }
  }
}

std::uint64_t ReplayGraph::run(const Scenario& scenario) {
  run(scenario, nullptr);
  std::uint64_t end_ns = observed_begin_ns_;
  for (const NodeId end : ends_) {
    end_ns = end == none ? end_ns : std::max(end_ns, times_ns_[end]);
  }
  return end_ns - observed_begin_ns_;
}

std::vector<PathPiece> ReplayGraph::longest_path() {
  std::vector<NodeId> binding;
  run({}, &binding);
  NodeId id = none;
  for (const NodeId end : ends_) {
    if (end != none && (id == none || times_ns_[end] > times_ns_[id])) {
      id = end;
    }
  }
  std::vector<PathPiece> path;
  for (; id != none; id = binding[id]) {
    const Node& node = nodes_[id];
    const NodeId from = binding[id];
    const std::uint64_t begin_ns = from == none ? times_ns_[id] - node.work_ns : times_ns_[from];
    const std::uint64_t time_ns = times_ns_[id] - begin_ns;
    // behind what a kernel waited for comes its launch; within a call, the post is the call's
    const std::uint64_t launch_ns = node.work == Work::kernel ? time_ns - std::min(time_ns, node.work_ns) : 0;
    path.push_back({node.position, node.work, node.site, time_ns - launch_ns});
    if (launch_ns != 0) {
      path.push_back({node.position, Work::launch, node.site, launch_ns});
    }
  }
  std::reverse(path.begin(), path.end());
  return path;
}

}  // namespace penstock::analysis
