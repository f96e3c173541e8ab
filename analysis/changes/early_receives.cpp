#include "analysis/changes/early_receives.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "analysis/causes/late_receive.hpp"

namespace penstock::analysis {
namespace {

/// Returns the send that completes last in a call; no_call if there is none.
std::uint32_t last_send(const GraphRank& rank, std::uint32_t call) {
  std::uint32_t last = RankTrace::no_call;
  for (const std::uint32_t half : rank.finder.halves_of(call)) {
    const trace::MessageHalf& record = rank.trace.halves[half].record;
    if (record.direction == trace::Direction::send &&
        (last == RankTrace::no_call || record.complete_ns > rank.trace.halves[last].record.complete_ns)) {
      last = half;
    }
  }
  return last;
}

}  // namespace

void EarlyReceives::add(const GraphRank& rank) {
  const auto message_of = [&](std::uint32_t half) {
    return rank.index.number_of(rank.trace, rank.index_position, half);
  };
  std::vector<std::pair<std::uint64_t, std::uint64_t>> hidden;  // when a call ended, and how much of it
  for (const RankLayout::HostItem& item : rank.layout.host) {
    const std::uint64_t moving_ns = item.call == RankTrace::no_call ? 0 : rank.graph.moving_ns(item.end);
    if (moving_ns == 0) {
      continue;
    }
    const std::optional<LateReceive> late =
        late_receive_in(rank.trace, rank.index_position, rank.timeline, rank.finder, rank.index, item.call);
    if (late) {
      sites_[rank.site_of_post(late->posting_call)].push_back(
          {item.end, late->kernels_ns, message_of(late->half)});
      hidden.emplace_back(rank.graph.observed_ns(item.end), std::min(moving_ns, late->kernels_ns));
    } else if (const std::uint32_t half = last_send(rank, item.call); half != RankTrace::no_call) {
      const std::uint64_t posted_ns =
          rank.graph.reference_ns(rank.trace, rank.trace.halves[half].record.post_ns);
      std::uint64_t hidden_before_ns = 0;
      for (auto each = hidden.rbegin(); each != hidden.rend() && each->first > posted_ns; ++each) {
        hidden_before_ns += each->second;
      }
      sends_.insert_or_assign(message_of(half), Sent{item.end, hidden_before_ns});
    }
  }
}

void EarlyReceives::hide(NodeId end, std::uint64_t time_ns, const Trial& trial, Scenario& scenario) const {
  const std::uint64_t work_ns = trial.graph.work_ns(end);
  const std::uint64_t hidden_ns = std::min({time_ns, trial.graph.moving_ns(end), work_ns});
  scenario.work_ns[end] = work_ns - hidden_ns;
}

void EarlyReceives::propose(const Trial& trial) const {
  for (std::size_t row = 0; row < trial.report.late_receives.size(); ++row) {
    Scenario scenario;
    for (const auto& [site, hidden] : sites_) {
      if (trial.call_of_site(site) == trial.report.late_receives[row].at) {
        for (const Hidden& each : hidden) {
          hide(each.end, each.kernels_ns, trial, scenario);
          const auto sent = sends_.find(each.message);
          if (each.message != 0 && sent != sends_.end()) {
            hide(sent->second.end, each.kernels_ns - std::min(each.kernels_ns, sent->second.hidden_before_ns),
                 trial, scenario);
          }
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
