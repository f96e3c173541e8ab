#include "analysis/changes/early_receives.hpp"

#include <algorithm>
#include <optional>

#include "analysis/causes/late_receive.hpp"

namespace penstock::analysis {

void EarlyReceives::add(const GraphRank& rank) {
  for (const RankLayout::HostItem& item : rank.layout.host) {
    if (item.call == RankTrace::no_call || rank.graph.moving_ns(item.end) == 0) {
      continue;
    }
    const std::optional<LateReceive> late =
        late_receive_in(rank.trace, rank.index_position, rank.timeline, rank.finder, rank.index, item.call);
    if (late) {
      sites_[rank.site_of_post(late->posting_call)].push_back(
          {item.end, std::min(rank.graph.moving_ns(item.end), late->kernels_ns)});
    }
  }
}

void EarlyReceives::propose(const Trial& trial) const {
  for (std::size_t row = 0; row < trial.report.late_receives.size(); ++row) {
    Scenario scenario;
    for (const auto& [site, hidden] : sites_) {
      if (trial.call_of_site(site) == trial.report.late_receives[row].at) {
        for (const Hidden& each : hidden) {
          const std::uint64_t work_ns = trial.graph.work_ns(each.end);
          scenario.work_ns[each.end] = work_ns - std::min(work_ns, each.time_ns);
        }
      }
    }
    if (!scenario.work_ns.empty()) {
      ChangeFigures change{.kind = AdviceKind::post_receives_early};
      change.list = "late_receives";
      change.row = row;
      trial.keep(trial.saved_ns(scenario), std::move(change));
    }
  }
}

}  // namespace penstock::analysis
