#include "analysis/figures/thread_sums.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "analysis/causes/thread_timelines.hpp"

namespace penstock::analysis {
namespace {

constexpr std::uint8_t start_end_range = 255;  // trace::Range::depth; may end on another thread

/// Adds up why the thread waited. Its calls do not overlap.
void add_causes(const RankInput& rank, const ThreadTimeline& thread, bool is_exposed,
                ThreadFigures& figures) {
  const Interval window = rank.window.window;
  const IntervalSet nothing;
  MeasureCursor hidden(is_exposed ? *thread.kernels : nothing);
  const auto [first, last] = rank.trace.calls_of_lanes()[thread.lane];
  for (std::uint32_t call = first; call < last; ++call) {
    const trace::MpiCall& record = rank.trace.calls[call].record;
    if (!communicates(record) || record.end_ns <= window.begin_ns || record.begin_ns >= window.end_ns) {
      continue;
    }
    for (const CauseSpan& span : rank.window.finder->explain(call)) {
      const std::uint64_t begin_ns = std::max(span.begin_ns, window.begin_ns);
      const std::uint64_t end_ns = std::min(span.end_ns, window.end_ns);
      if (begin_ns >= end_ns) {
        continue;
      }
      const auto cause = static_cast<std::size_t>(span.cause);
      const std::uint64_t counted_ns = end_ns - begin_ns - hidden.measure_within_ns(begin_ns, end_ns);
      figures.by_cause[cause] += counted_ns;
      figures.within_error[cause] += std::min(span.within_error_ns, counted_ns);
    }
  }
  figures.counted_ns = std::accumulate(figures.by_cause.begin(), figures.by_cause.end(), std::uint64_t{0});
}

void add_phases(const RankInput& rank, const ThreadTimeline& thread, bool is_exposed,
                ThreadFigures& figures) {
  const Interval window = rank.window.window;
  std::map<std::uint32_t, std::vector<Interval>> by_name;
  for (std::size_t i = 0; i < rank.trace.ranges.size(); ++i) {
    const trace::Range& range = rank.trace.ranges[i];
    if (rank.trace.range_lanes[i] == thread.lane && range.depth != start_end_range) {
      by_name[range.name].push_back(
          {std::max(range.begin_ns, window.begin_ns), std::min(range.end_ns, window.end_ns)});
    }
  }
  const IntervalSet upper_bound = subtract(thread.communication, *thread.kernels);
  for (auto& [name, intervals] : by_name) {
    const IntervalSet phase = IntervalSet::union_of(std::move(intervals));
    if (phase.measure_ns() != 0) {
      figures.phases.push_back({rank.trace.strings.at(name), phase.measure_ns(),
                                common_ns(is_exposed ? thread.exposed : thread.host, phase),
                                common_ns(upper_bound, phase)});
    }
  }
  std::sort(figures.phases.begin(), figures.phases.end(),
            [](const ThreadPhaseFigures& left, const ThreadPhaseFigures& right) {
              return std::tie(right.upper_bound_ns, right.total_ns, left.name) <
                     std::tie(left.upper_bound_ns, left.total_ns, right.name);
            });
}

}  // namespace

void ThreadSums::add(const RankInput& rank) {
  OfRank of_rank{rank.trace.header.world_rank, {}};
  for (ThreadTimeline& thread : thread_timelines(rank.trace, rank.window.window)) {
    ThreadFigures& figures = of_rank.threads.emplace_back();
    figures.number = thread.number;
    figures.kernels_ns = thread.kernels->measure_ns();
    figures.host_ns = thread.host.measure_ns();
    figures.in_flight_ns = thread.in_flight_ns;
    figures.communication_ns = thread.communication.measure_ns();
    figures.exposed_ns = thread.exposed.measure_ns();
    figures.hidden_ns = common_ns(thread.communication, *thread.kernels);
    figures.upper_bound_ns = figures.communication_ns - figures.hidden_ns;
    if (rank.is_counted) {
      add_causes(rank, thread, is_exposed_, figures);
    }
    add_phases(rank, thread, is_exposed_, figures);
    figures.name = std::move(thread.name);
    figures.gpus = std::move(thread.gpus);
  }
  if (!of_rank.threads.empty()) {
    ranks_.push_back(std::move(of_rank));
  }
}

void ThreadSums::finish(Report& report, SiteNames&) {
  for (OfRank& each : ranks_) {
    const auto rank = std::lower_bound(
        report.ranks.begin(), report.ranks.end(), each.rank,
        [](const RankFigures& figures, std::int32_t number) { return figures.rank < number; });
    if (rank != report.ranks.end() && rank->rank == each.rank) {
      rank->threads = std::move(each.threads);
    }
  }
}

}  // namespace penstock::analysis
