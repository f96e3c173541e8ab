#include "analysis/figures/phase_sums.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::analysis {

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
      Sums& sums = sums_[{rank.trace.strings.at(name)}];
      sums.efficiency.add(total_ns, total_ns - common_ns(phase, rank.window.timeline.idle));
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
         sums.efficiency.total_ns(),
         sums.counted_ns,
         sums.efficiency.of(report.counted_ranks),
         {sums.batches_ns.begin(), sums.batches_ns.begin() + static_cast<std::ptrdiff_t>(batches)}});
  }
  sort_by_counted(report.phases);
}

}  // namespace penstock::analysis
