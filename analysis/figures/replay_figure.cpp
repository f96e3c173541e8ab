#include "analysis/figures/replay_figure.hpp"

#include <utility>

#include "analysis/replay/what_if.hpp"

namespace penstock::analysis {

ReplayFigure::ReplayFigure(const FigureContext& context) : graph_(context.index) {
  if (context.index.host_count() > 1 && context.index.clocks().aligned_hosts() < context.index.host_count()) {
    give_up("the clocks of some hosts could not be synchronised");
  }
}

void ReplayFigure::give_up(std::string why) {
  graph_.reset();
  why_not_ = std::move(why);
}

void ReplayFigure::add(const RankInput& rank) {
  if (rank.is_counted) {
    nodes_ += rank.window.timeline.host_segments.size() * 2 + rank.trace.kernels.size();
  }
}

/// Limits the graph: it holds the whole job, while everything else holds one rank.
bool ReplayFigure::can_replay() {
  constexpr std::uint64_t most_nodes = 4'000'000;  // half a gigabyte, and some seconds
  if (graph_ && nodes_ > most_nodes) {
    give_up("the job has more than four million calls and kernels, too many to be replayed");
  }
  return graph_.has_value();
}

void ReplayFigure::add_to_graph(RankWindow& window, std::span<const std::uint32_t> sites) {
  if (graph_ && window.finder) {
    graph_->add(window.rank, ranks_in_graph_++, window.timeline, window.window, *window.finder,
                [&](std::uint32_t call) { return sites[window.site_of_call[call]]; });
  }
}

void ReplayFigure::finish(Report& report, SiteNames& names) {
  report.why_no_replay = std::move(why_not_);
  if (graph_ && report.counted_ranks != 0) {
    graph_->join();
    report.replay = replay(*graph_, report, [&](std::uint32_t site) { return names.call_of(site); });
  }
}

}  // namespace penstock::analysis
