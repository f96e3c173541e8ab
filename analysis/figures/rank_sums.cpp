#include "analysis/figures/rank_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

namespace penstock::analysis {
namespace {

/// Returns a cost from a header, where 0 means unknown.
std::optional<std::uint64_t> known(std::uint64_t cost_ns) {
  return cost_ns == 0 ? std::nullopt : std::optional(cost_ns);
}

/// Notes what the recording says of itself.
void add_header(const RankInput& input, RankFigures& figures) {
  const RankTrace& rank = input.trace;
  figures.rank = rank.header.world_rank;
  figures.host = rank.header.host_name;
  figures.finished = rank.finished;
  figures.used_gpu = rank.used_gpu();
  figures.kernels_known = rank.has(trace::feature::kernels) && figures.used_gpu;
  figures.launches_known = std::all_of(rank.kernels.begin(), rank.kernels.end(),
                                       [](const auto& each) { return each.own != 0 || each.issued_ns != 0; });
  figures.records = rank.record_count;
  figures.dropped_records = rank.header.dropped_records;
  figures.dropped_gpu_records = rank.header.dropped_gpu_records;
  if (rank.finished) {
    figures.own_cost_ns = rank.header.own_cost_ns;
    figures.start_cost_ns = known(rank.header.start_cost_ns);
    figures.finish_cost_ns = known(rank.header.finish_cost_ns);
  }
  if (figures.kernels_known && rank.header.clock_error_ns != trace::clock_error_unknown) {
    figures.clock_error_ns = rank.header.clock_error_ns;
  }
  figures.is_counted = input.is_counted;
  figures.lacks_steps = input.window.lacks_steps;
}

void add_run(const RankInput& input, RankFigures& figures) {
  const RankTrace& rank = input.trace;
  const KnownTime& own = input.window.own_known;
  const auto of_run = [&rank](std::uint64_t time_ns) {
    return std::clamp(time_ns, rank.run_begin_ns, rank.run_end_ns) - rank.run_begin_ns;
  };
  figures.run_ns = rank.run_end_ns - rank.run_begin_ns;
  figures.recorded_from_ns = of_run(std::max(own.from_ns, rank.lost.known_from_ns));
  figures.recorded_ns = of_run(own.until_ns);
  figures.known_from_ns = of_run(rank.begin_ns);
  figures.known_ns = of_run(rank.end_ns);
  // the last record of a job that was killed is no end of the run if later ones were dropped
  figures.ends_early = rank.is_cut() || (!rank.finished && own.until_ns != trace::nothing_missing);
  figures.is_of_window = is_of_window(rank.header, own);
  figures.awaits_window = rank.has(trace::feature::window) && rank.header.window_begin_ns == 0;
}

void add_sets(const RankInput& input, RankFigures& figures) {
  const RankTrace& rank = input.trace;
  const Interval window = input.window.window;
  Timeline& timeline = input.window.timeline;
  figures.total_ns = window.end_ns - window.begin_ns;
  figures.kernels_ns = timeline.kernels.measure_ns();
  figures.host_ns = timeline.host.measure_ns();
  figures.in_flight_ns = timeline.in_flight.measure_ns();
  figures.communication_ns = timeline.communication.measure_ns();
  figures.exposed_ns = timeline.exposed.measure_ns();
  figures.hidden_ns = common_ns(timeline.communication, timeline.kernels);
  figures.upper_bound_ns = figures.communication_ns - figures.hidden_ns;

  figures.cuda_synchronisation_ns = timeline.synchronised.measure_ns();
  figures.computing_ns = figures.total_ns - timeline.idle.measure_ns();

  IntervalSet gpu_work[2];
  for (const std::vector<trace::DeviceActivity>* list : {&rank.kernels, &rank.copies}) {
    timeline.scratch.clear();
    for (const trace::DeviceActivity& each : *list) {
      timeline.scratch.push_back({each.begin_ns, each.end_ns});
    }
    IntervalSet& set = gpu_work[list == &rank.kernels ? 0 : 1];
    set.assign_union_of(timeline.scratch);
    set.cut_to(window);
  }
  figures.gpu_busy_ns =
      gpu_work[0].measure_ns() + gpu_work[1].measure_ns() - common_ns(gpu_work[0], gpu_work[1]);
}

std::optional<RecordedPart> recorded_part_of(const std::vector<RankFigures>& ranks) {
  const auto is_known = [](const RankFigures& rank) { return rank.known_from_ns == 0 && !rank.ends_early; };
  if (std::all_of(ranks.begin(), ranks.end(), is_known)) {
    return std::nullopt;
  }
  RecordedPart part{.recorded_ns = ~std::uint64_t{0}, .is_window = true};
  std::uint64_t shortest_ns = ~std::uint64_t{0};
  std::uint64_t latest_ns = 0;
  for (const RankFigures& rank : ranks) {
    part.is_window = part.is_window && rank.is_of_window;
    part.ends_early = part.ends_early || rank.ends_early;
    part.from_ns = std::max(part.from_ns, rank.known_from_ns);
    if (rank.recorded_from_ns > latest_ns) {
      latest_ns = rank.recorded_from_ns;
      part.last_rank = rank.rank;
    }
    if (rank.awaits_window && part.awaiting_rank < 0) {
      part.awaiting_rank = rank.rank;
    }
    part.recorded_ns = std::min(part.recorded_ns, rank.known_ns);
    part.run_ns = std::max(part.run_ns, rank.run_ns);
    part.finished = part.finished && rank.finished;
    if (rank.dropped_records != 0 && rank.recorded_ns < shortest_ns) {
      shortest_ns = rank.recorded_ns;
      part.first_rank = rank.rank;
    }
  }
  if (!part.ends_early) {
    part.recorded_ns = part.run_ns;  // ranks did not begin and end at one time
  }
  return part;
}

}  // namespace

void RankSums::add(const RankInput& rank) {
  RankFigures figures;
  add_header(rank, figures);
  add_run(rank, figures);
  add_sets(rank, figures);
  figures.by_cause = std::exchange(by_cause_, {});
  figures.within_error = std::exchange(within_error_, {});
  figures.counted_ns = std::accumulate(figures.by_cause.begin(), figures.by_cause.end(), std::uint64_t{0});
  ranks_.push_back(std::move(figures));
}

void RankSums::finish(Report& report, SiteNames&) {
  for (const RankFigures& rank : ranks_) {
    if (rank.is_counted) {
      ++report.counted_ranks;
      report.total_ns += rank.total_ns;
      report.counted_ns += rank.counted_ns;
    }
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      report.by_cause[cause] += rank.by_cause[cause];
      report.within_error[cause] += rank.within_error[cause];
    }
  }
  report.recorded_part = recorded_part_of(ranks_);
  std::sort(ranks_.begin(), ranks_.end(),
            [](const RankFigures& left, const RankFigures& right) { return left.rank < right.rank; });
  for (const RankFigures& rank : ranks_) {
    if (rank.lacks_steps)
      report.flaws.push_back({fmt::format("rank-{}.penstock", rank.rank), std::nullopt,
                              "no step in it, so this rank is not counted"});
  }
  report.ranks = std::move(ranks_);
}

}  // namespace penstock::analysis
