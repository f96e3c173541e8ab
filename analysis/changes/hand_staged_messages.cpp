#include "analysis/changes/hand_staged_messages.hpp"

#include <algorithm>
#include <unordered_map>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/joining/hand_staged.hpp"

namespace penstock::analysis {

void HandStagedMessages::add(const GraphRank& rank) {
  const HandStagedHalves found = hand_staged_halves(rank.trace, rank.window);
  if (found.copies.empty()) {
    return;
  }
  std::unordered_map<std::uint32_t, std::pair<std::uint32_t, const Interval*>> staged;  // by half: site, copy
  CallCursor cursor(rank.trace);
  for (const HandStaged& each : found.halves) {
    const Half& half = rank.trace.halves[each.half];
    const std::uint32_t call = cursor.call_at(half.lane, half.record.post_ns);
    if (call == RankTrace::no_call) {
      continue;
    }
    const std::uint32_t site = rank.site_of_call(call);
    if (site == ReplayGraph::no_site) {
      continue;
    }
    OfSite& of_site = sites_[site];
    ++of_site.messages;
    if (each.copy != nullptr) {
      ++of_site.staged;
      of_site.copies[rank.position].push_back({rank.graph.reference_ns(rank.trace, each.copy->begin_ns),
                                               rank.graph.reference_ns(rank.trace, each.copy->end_ns)});
      staged[each.half] = {site, each.copy};
    }
  }
  for (const RankLayout::HostItem& item : rank.layout.host) {
    if (item.call == RankTrace::no_call || rank.graph.moving_ns(item.end) == 0) {
      continue;
    }
    std::map<std::uint32_t, std::uint64_t> longest_ns;  // by site
    for (const std::uint32_t half : rank.finder.halves_of(item.call)) {
      if (const auto copy = staged.find(half); copy != staged.end()) {
        const Interval& when = *copy->second.second;
        std::uint64_t& longest = longest_ns[copy->second.first];
        longest = std::max(longest, when.end_ns - when.begin_ns);
      }
    }
    for (const auto& [site, time_ns] : longest_ns) {
      sites_[site].moved.push_back({item.end, time_ns});
    }
  }
}

void HandStagedMessages::propose(const Trial& trial) const {
  for (std::size_t row = 0; row < trial.report.hand_staging.size(); ++row) {
    // several sites may bear one name: they are changed together
    Scenario as_copy;
    Scenario free;
    Scenario as_host;
    std::map<std::size_t, std::vector<Interval>> copies;
    for (const auto& [site, of_site] : sites_) {
      if (of_site.staged == 0 || trial.call_of_site(site) != trial.report.hand_staging[row].at) {
        continue;
      }
      for (const auto& [position, intervals] : of_site.copies) {
        copies[position].insert(copies[position].end(), intervals.begin(), intervals.end());
      }
      for (const Moved& each : of_site.moved) {
        const std::uint64_t work_ns = trial.graph.work_ns(each.end);
        const std::uint64_t moving_ns = trial.graph.moving_ns(each.end);
        as_copy.work_ns[each.end] = work_ns - moving_ns + std::min(moving_ns, each.longest_ns);
        free.work_ns[each.end] = work_ns - moving_ns;
      }
    }
    if (copies.empty()) {
      continue;
    }
    for (auto& [position, intervals] : copies) {
      as_host.without_host.resize(std::max(as_host.without_host.size(), position + 1));
      as_host.without_host[position] = IntervalSet::union_of(std::move(intervals));
    }
    as_copy.without_host = free.without_host = as_host.without_host;
    const std::uint64_t saved_ns = trial.saved_ns(as_copy);
    ChangeFigures change{.kind = AdviceKind::pass_device_pointers};
    change.spread_ns = std::max(saved_ns - std::min(saved_ns, trial.saved_ns(as_host)),
                                trial.saved_ns(free) - std::min(saved_ns, trial.saved_ns(free)));
    change.list = "staging_by_hand";
    change.row = row;
    trial.keep(saved_ns, std::move(change));
  }
}

}  // namespace penstock::analysis
