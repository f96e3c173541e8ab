#include "analysis/figures/hand_staging.hpp"

#include <algorithm>

namespace penstock::analysis {

void HandStaging::add(const RankInput& rank) {
  for (const HandCopy& each : rank.hand_copies) {
    const auto [begin_ns, end_ns] = each.time;
    Sums& sums = sums_[{each.site}];
    ++sums.messages;
    sums.bytes += each.bytes;
    sums.copies_ns += end_ns - begin_ns;
    sums.exposed_copies_ns +=
        end_ns - begin_ns - rank.window.timeline.kernels.measure_within_ns(begin_ns, end_ns);
  }
}

void HandStaging::finish(Report& report, SiteNames& names) {
  std::vector<HandStagingFigures>& figures = report.hand_staging;
  for (const auto& [key, sums] : sums_) {
    figures.push_back(
        {names.call_of(key.site), sums.messages, sums.bytes, sums.copies_ns, sums.exposed_copies_ns});
  }
  std::stable_sort(figures.begin(), figures.end(),
                   [](const HandStagingFigures& left, const HandStagingFigures& right) {
                     return left.copies_ns > right.copies_ns;
                   });
}

}  // namespace penstock::analysis
