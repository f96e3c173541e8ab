// The part of ReplayGraph that turns kernels into nodes, and their waits into edges.
#include <algorithm>
#include <tuple>

#include "analysis/replay/replay_graph.hpp"
#include "analysis/replay/stream_waits.hpp"

namespace penstock::analysis {
namespace {

/// Returns the longest gap after which a kernel counts as queued behind the one it had to wait for, where it
/// is not known when it was launched; after a longer gap it waited for its launch. Launches take some
/// microseconds. Streams of a simulated GPU are threads; they wake each other, which takes longer on few
/// cores.
std::uint64_t queued_gap_ns(const RankTrace& rank) {
  return rank.has(trace::feature::simulated) ? 1'000'000 : 5'000;
}

}  // namespace

std::vector<RankLayout::Kernel> ReplayGraph::add_kernels(
    const RankTrace& rank, std::size_t position, Interval window,
    const std::unordered_map<std::size_t, NodeId>& synchronisations) {
  std::vector<const trace::DeviceActivity*> kernels;
  for (const trace::DeviceActivity& each : rank.kernels) {
    if (each.own == 0 && each.begin_ns >= window.begin_ns && each.end_ns <= window.end_ns) {
      kernels.push_back(&each);
    }
  }
  const auto is_earlier = [](const trace::DeviceActivity* left, const trace::DeviceActivity* right) {
    return std::tie(left->begin_ns, left->end_ns, left->stream) <
           std::tie(right->begin_ns, right->end_ns, right->stream);
  };
  std::sort(kernels.begin(), kernels.end(), is_earlier);
  RankNodes& own = ranks_[position];
  std::map<std::pair<std::uint8_t, std::uint32_t>, std::pair<NodeId, std::uint64_t>> last_of_stream;
  const std::uint64_t gap_ns = queued_gap_ns(rank);
  const std::vector<std::pair<std::size_t, std::size_t>> waits = stream_waits(rank, kernels);
  const std::vector<std::uint64_t> launched_by = launched_by_ns(rank, kernels);
  auto wait = waits.begin();
  std::vector<NodeId> nodes_of;  // of kernels
  nodes_of.reserve(kernels.size());
  for (const trace::DeviceActivity* kernel : kernels) {
    const std::uint64_t begin_ns = reference_ns(rank, kernel->begin_ns);
    const NodeId node = add_node({.observed_ns = reference_ns(rank, kernel->end_ns),
                                  .work_ns = kernel->end_ns - kernel->begin_ns,
                                  .position = static_cast<std::uint32_t>(position),
                                  .work = Work::kernel,
                                  .ends = true});
    const bool is_launch_known = kernel->issued_ns != 0;
    const std::uint64_t launched_own_ns = is_launch_known ? kernel->issued_ns : launched_by[nodes_of.size()];
    const std::uint64_t launched_ns =
        launched_own_ns > kernel->begin_ns ? begin_ns : reference_ns(rank, launched_own_ns);
    nodes_of.push_back(node);
    auto& [last, last_end_ns] =
        last_of_stream.try_emplace({kernel->device, kernel->stream}, none, 0).first->second;
    std::vector<std::pair<std::uint64_t, NodeId>> waited_for;  // end and node of what the kernel had to wait
                                                               // for
    if (last != none) {
      waited_for.emplace_back(last_end_ns, last);
    }
    for (; wait != waits.end() && wait->first == nodes_of.size() - 1; ++wait) {
      waited_for.emplace_back(nodes_[nodes_of[wait->second]].observed_ns, nodes_of[wait->second]);
    }
    std::erase_if(waited_for, [=](const auto& each) { return each.first > begin_ns; });  // it did not wait
                                                                                         // for these
    std::sort(waited_for.begin(), waited_for.end());
    // The kernel was launched before the last of them ended; or, if the launch time is unknown, it began so
    // soon that it must have been.
    const bool was_queued =
        !waited_for.empty() && (launched_ns <= waited_for.back().first ||
                                (!is_launch_known && begin_ns - waited_for.back().first <= gap_ns));
    for (const auto& each : waited_for) {
      const bool is_last = &each == &waited_for.back();
      loose_edges_.push_back(
          {node, {.from = each.second, .lag_ns = is_last && was_queued ? begin_ns - each.first : 0}});
    }
    if (!was_queued) {
      if (const NodeId launch = last_before(own.host, is_launch_known ? launched_ns : begin_ns);
          launch != none) {
        const std::uint64_t lag_ns = begin_ns - nodes_[launch].observed_ns;
        Edge edge{.from = launch, .lag_ns = lag_ns};
        const std::uint64_t launch_ns = is_launch_known ? begin_ns - launched_ns : lag_ns;
        edge.launch_ns =
            static_cast<std::uint32_t>(std::min<std::uint64_t>({launch_ns, lag_ns, Edge::most_launch_ns})) &
            Edge::most_launch_ns;
        loose_edges_.push_back({node, edge});
      }
    }
    if (last == none || nodes_[node].observed_ns >= last_end_ns) {
      last = node;
      last_end_ns = nodes_[node].observed_ns;
    }
    own.kernels.push_back(node);
  }
  for (const auto& [call, kernel] : synchronised_kernels(rank, kernels)) {
    if (const auto end = synchronisations.find(call); end != synchronisations.end()) {
      loose_edges_.push_back({end->second, {.from = nodes_of[kernel], .lag_ns = 0}});
    }
  }
  std::sort(own.kernels.begin(), own.kernels.end(), [this](NodeId left, NodeId right) {
    return nodes_[left].observed_ns < nodes_[right].observed_ns;
  });
  std::vector<RankLayout::Kernel> layout;
  layout.reserve(kernels.size());
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    layout.push_back({nodes_of[i], static_cast<std::uint32_t>(kernels[i] - rank.kernels.data())});
  }
  return layout;
}

}  // namespace penstock::analysis
