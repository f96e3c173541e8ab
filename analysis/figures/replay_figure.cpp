#include "analysis/figures/replay_figure.hpp"

#include <cstddef>
#include <functional>
#include <utility>

#include "analysis/replay/what_if.hpp"

namespace penstock::analysis {

ReplayFigure::ReplayFigure(const FigureContext& context)
    : graph_(context.index), index_(context.index), sites_(context.sites) {
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
    const ReplayGraph::SiteOfCall site_of_call = [&](std::uint32_t call) {
      const std::uint32_t site = window.site_of_call[call];
      return site == RankWindow::no_site ? ReplayGraph::no_site : sites[site];
    };
    const std::size_t position = ranks_in_graph_.size();
    ranks_in_graph_.push_back(window.rank.header.world_rank);
    sites_.begin_rank();
    const RankLayout layout =
        graph_->add(window.rank, position, window.timeline, window.window, *window.finder, site_of_call);
    const IntervalSet busy = busy_times(window.rank, *graph_);
    const GraphRank added{window.rank,    position,     window.position, window.timeline, window.window,
                          *window.finder, site_of_call, layout,          *graph_,         busy,
                          index_,         names_,       sites_};
    changes_.add(added);
    kernel_factors_.add(added);
  }
}

/// Tries what could be changed in the program, with the graph joined and the report's other figures known.
void ReplayFigure::try_changes(Report& report, SiteNames& names) {
  std::vector<std::string> calls(names.count());
  const std::function<std::string(std::uint32_t)> call_of_site = [&](std::uint32_t site) {
    if (calls[site].empty()) {
      calls[site] = names.call_of(site);
    }
    return calls[site];
  };
  std::vector<ChangeFigures> changes;
  changes_.propose(
      {*graph_, report, ranks_in_graph_, names_, call_of_site, report.replay->replayed_ns, changes},
      names.count());
  report.replay->changes = std::move(changes);
}

void ReplayFigure::finish(Report& report, SiteNames& names) {
  report.why_no_replay = std::move(why_not_);
  if (graph_ && report.counted_ranks != 0) {
    graph_->join();
    report.replay = replay(*graph_, report, [&](std::uint32_t site) { return names.call_of(site); });
    const std::vector<WhatIfFigures> answers = kernel_factors_.answers(*graph_);
    report.replay->what_if.insert(report.replay->what_if.end(), answers.begin(), answers.end());
    report.replay->not_answered = kernel_factors_.why_not_answered();
    if (counts_exposed(report)) {
      try_changes(report, names);
    }
  }
}

}  // namespace penstock::analysis
