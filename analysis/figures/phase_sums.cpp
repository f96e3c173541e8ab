#include "analysis/figures/phase_sums.hpp"

namespace penstock::analysis {

void PhaseSums::add(const RankInput& rank) {
  if (!rank.is_counted) {
    return;
  }
  const Interval window = rank.window.window;
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
    if (phase.measure_ns() != 0) {
      Sums& sums = sums_[{rank.trace.strings.at(name)}];
      sums.total_ns += phase.measure_ns();
      sums.counted_ns += common_ns(rank.counted, phase);
    }
  }
}

void PhaseSums::finish(Report& report, SiteNames&) {
  for (const auto& [name, sums] : sums_) {
    report.phases.push_back({name.text, sums.total_ns, sums.counted_ns});
  }
  sort_by_counted(report.phases);
}

}  // namespace penstock::analysis
