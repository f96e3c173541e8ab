#include "analysis/figures/phase_sums.hpp"

#include <map>
#include <utility>

namespace penstock::analysis {

std::optional<PhaseEfficiency> PhaseSums::efficiency_of(const Sums& sums, std::uint64_t ranks) {
  if (sums.computing_ns == 0 || ranks == 0) {
    return std::nullopt;
  }
  const auto most_ns = static_cast<double>(sums.most_computing.ns);
  return PhaseEfficiency{static_cast<double>(sums.computing_ns) / static_cast<double>(ranks) / most_ns,
                         most_ns / static_cast<double>(sums.longest.ns)};
}

void PhaseSums::add(const RankInput& rank) {
  if (!rank.is_counted || rank.trace.ranges.empty()) {
    return;
  }
  const Interval window = rank.window.window;
  const std::vector<std::uint64_t>& bounds = rank.window.step_bounds;
  const std::size_t steps = bounds.empty() ? 0 : bounds.size() - 1;
  std::map<std::uint32_t, std::vector<Interval>> by_name;
  auto last = by_name.end();
  for (const trace::Range& each : rank.trace.ranges) {
    if (last == by_name.end() || last->first != each.name) {
      last = by_name.try_emplace(each.name).first;
    }
    last->second.push_back({std::max(each.begin_ns, window.begin_ns), std::min(each.end_ns, window.end_ns)});
  }
  for (auto& [name, intervals] : by_name) {
    const IntervalSet phase = IntervalSet::union_of(std::move(intervals));
    const std::uint64_t total_ns = phase.measure_ns();
    if (total_ns != 0) {
      const std::uint64_t computing_ns = total_ns - common_ns(phase, rank.window.timeline.idle);
      Sums& sums = sums_[{rank.trace.strings.at(name)}];
      sums.total_ns += total_ns;
      sums.computing_ns += computing_ns;
      sums.longest.ns = std::max(sums.longest.ns, total_ns);
      sums.most_computing.ns = std::max(sums.most_computing.ns, computing_ns);
      sums.counted_ns += common_ns(rank.counted, phase);
      for (std::size_t i = 0; i < batches_of(steps); ++i) {
        sums.batches_ns[i] +=
            phase.measure_within_ns(bounds[first_of_batch(steps, i)], bounds[first_of_batch(steps, i + 1)]);
      }
    }
  }
}

void PhaseSums::finish(Report& report, SiteNames&) {
  for (const auto& [name, sums] : sums_) {
    const std::size_t batches = report.steps ? batches_of(report.steps->each.size()) : 0;
    report.phases.push_back(
        {name.text,
         sums.total_ns,
         sums.counted_ns,
         efficiency_of(sums, report.counted_ranks),
         {sums.batches_ns.begin(), sums.batches_ns.begin() + static_cast<std::ptrdiff_t>(batches)}});
  }
  sort_by_counted(report.phases);
}

}  // namespace penstock::analysis
