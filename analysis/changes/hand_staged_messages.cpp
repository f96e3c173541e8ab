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
    const std::uint32_t site = rank.site_of_post(call);
    if (each.copy != nullptr) {
      sites_[site].copies[rank.position].push_back({rank.graph.reference_ns(rank.trace, each.copy->begin_ns),
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
      groups_.join(site, longest_ns.begin()->first);
    }
  }
}

void HandStagedMessages::propose_for(std::uint32_t group, const Trial& trial) {
  const std::vector<HandStagingFigures>& rows = trial.report.hand_staging;
  ChangeFigures change{
      .kind = AdviceKind::pass_device_pointers, .list = "staging_by_hand", .row = rows.size()};
  std::map<std::size_t, std::vector<Interval>> copies;
  std::map<NodeId, std::uint64_t> longest_ns;
  for (const auto& [site, of_site] : sites_) {
    const std::string call = groups_.group_of(site) == group ? trial.call_of_site(site) : "";
    const auto row = std::find_if(rows.begin(), rows.end(),
                                  [&](const HandStagingFigures& each) { return each.at == call; });
    if (row == rows.end()) {
      continue;  // too few of its messages have copies
    }
    change.row = std::min(change.row, static_cast<std::size_t>(row - rows.begin()));
    change.calls.push_back(call);
    for (const auto& [position, intervals] : of_site.copies) {
      copies[position].insert(copies[position].end(), intervals.begin(), intervals.end());
    }
    for (const Moved& each : of_site.moved) {
      longest_ns[each.end] = std::max(longest_ns[each.end], each.longest_ns);
    }
  }
  if (copies.empty()) {
    return;
  }
  Scenario as_host;
  for (auto& [position, intervals] : copies) {
    as_host.without_host.resize(std::max(as_host.without_host.size(), position + 1));
    as_host.without_host[position] = IntervalSet::union_of(std::move(intervals));
  }
  Scenario as_copy = as_host;
  Scenario free = as_host;
  for (const auto& [end, copy_ns] : longest_ns) {
    const std::uint64_t moving_ns = trial.graph.moving_ns(end);
    free.work_ns[end] = trial.graph.work_ns(end) - moving_ns;
    as_copy.work_ns[end] = free.work_ns[end] + copy_ns;
  }
  const std::uint64_t saved_ns = trial.saved_ns(as_copy);
  const std::uint64_t least_ns = trial.saved_ns(as_host);
  const std::uint64_t most_ns = trial.saved_ns(free);
  change.spread_ns = std::max(saved_ns - std::min(saved_ns, least_ns), most_ns - std::min(most_ns, saved_ns));
  trial.keep(saved_ns, std::move(change));
}

void HandStagedMessages::propose(const Trial& trial) {
  std::vector<std::uint32_t> proposed;
  for (const auto& [site, of_site] : sites_) {
    const std::uint32_t group = groups_.group_of(site);
    if (std::find(proposed.begin(), proposed.end(), group) == proposed.end()) {
      proposed.push_back(group);
      propose_for(group, trial);
    }
  }
}

}  // namespace penstock::analysis
