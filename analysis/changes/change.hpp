// What a change of the program is made of: what is noted of each rank when its graph is made, and how a
// scenario is tried. Must not know single changes.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/replay/replay_graph.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// Returns when the rank's GPUs compute or copy for the program, or for NCCL, in the graph's clock.
[[nodiscard]] IntervalSet busy_times(const RankTrace& trace, const ReplayGraph& graph);

/// Host code that is shorter lies between calls that follow at once: calls of CUDA and the like.
inline constexpr std::uint64_t shortest_host_code_ns = 10'000;

/// A rank that was added to the graph.
struct GraphRank {
  const RankTrace& trace;
  std::size_t position;        ///< in the graph
  std::size_t index_position;  ///< in the index
  const Timeline& timeline;
  Interval window;
  CauseFinder& finder;
  const ReplayGraph::SiteOfCall& site_of_call;
  const RankLayout& layout;
  const ReplayGraph& graph;
  const IntervalSet& busy;  ///< see busy_times()
  const MessageIndex& index;
  StringPool& names;  ///< of kernels and ranges, of all ranks
  SiteTable& sites;   ///< of all ranks; this rank is begun

  [[nodiscard]] const trace::MpiCall& call(const RankLayout::HostItem& item) const {
    return trace.calls[item.call].record;
  }
  /// Returns the site of a call that posts, which may be none that communicates.
  [[nodiscard]] std::uint32_t site_of_post(std::uint32_t call) const {
    const trace::MpiCall& record = trace.calls[call].record;
    return sites.id_of(trace, record.call_site, record.function);
  }
  /// Returns true for a collective call that is replayed as such.
  [[nodiscard]] bool is_collective(const RankLayout::HostItem& item) const {
    return call(item).collective_ordinal != 0;
  }
  [[nodiscard]] std::uint32_t kernel_name(const RankLayout::Kernel& kernel) const {
    return names.id_of(trace.strings.at(trace.kernels[kernel.index].name));
  }
  [[nodiscard]] std::uint64_t kernel_begin_ns(const RankLayout::Kernel& kernel) const {
    return graph.observed_ns(kernel.node) - graph.work_ns(kernel.node);
  }
};

/// What changes are tried with, and where what comes out is kept.
struct Trial {
  ReplayGraph& graph;
  const Report& report;
  const std::vector<std::int32_t>& ranks;  ///< numbers of the graph's ranks, by position
  const StringPool& names;
  const std::function<std::string(std::uint32_t)>& call_of_site;
  std::uint64_t unchanged_ns;
  std::vector<ChangeFigures>& changes;

  /// Returns the least time of a job that makes a change worth to be told.
  [[nodiscard]] std::uint64_t least_ns() const noexcept { return unchanged_ns / 200; }
  [[nodiscard]] std::uint64_t saved_ns(const Scenario& scenario) const {
    const std::uint64_t total_ns = graph.run(scenario);
    return unchanged_ns - std::min(unchanged_ns, total_ns);
  }
  /// Keeps a change that saves enough.
  void keep(std::uint64_t saved_ns, ChangeFigures change) const {
    if (saved_ns != 0 && saved_ns >= least_ns()) {
      change.total_ns = unchanged_ns - saved_ns;
      changes.push_back(std::move(change));
    }
  }
};

/// Joins sites that are changed together. Numbers are small and without large gaps.
class SiteGroups {
 public:
  void join(std::uint32_t left, std::uint32_t right) {
    left = group_of(left);
    right = group_of(right);
    parent_[std::max(left, right)] = std::min(left, right);
  }
  [[nodiscard]] std::uint32_t group_of(std::uint32_t site) {
    while (site >= parent_.size()) {
      parent_.push_back(static_cast<std::uint32_t>(parent_.size()));
    }
    while (parent_[site] != site) {
      site = parent_[site] = parent_[parent_[site]];
    }
    return site;
  }

 private:
  std::vector<std::uint32_t> parent_;
};

}  // namespace penstock::analysis
