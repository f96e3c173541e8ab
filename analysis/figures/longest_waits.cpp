#include "analysis/figures/longest_waits.hpp"

#include <algorithm>
#include <set>
#include <tuple>

namespace penstock::analysis {
namespace {

bool is_longer_wait(const LongWait& left, const LongWait& right) {
  return std::tie(right.counted_ns, left.when.begin_ns, left.rank) <
         std::tie(left.counted_ns, right.when.begin_ns, right.rank);
}

bool waits_overlap(Interval left, Interval right) {
  return left.begin_ns < right.end_ns && right.begin_ns < left.end_ns;
}

}  // namespace

void LongestWaits::add_wanted(const WaitInput& wait) {
  const RankInput& rank = wait.call.rank;
  add({rank.trace.header.world_rank,
       {rank.axis.at(wait.begin_ns), rank.axis.at(wait.end_ns)},
       wait.counted_ns,
       wait.span.cause,
       wait.span.counterpart.rank,
       wait.call.site,
       0,
       wait.within_error_ns});
}

void LongestWaits::add(const LongWait& wait) {
  if (!waits_.empty() && waits_.back().rank != wait.rank) {
    first_of_rank_ = waits_.size();
  }
  const auto first = [this] { return waits_.begin() + static_cast<std::ptrdiff_t>(first_of_rank_); };
  if (waits_.size() - first_of_rank_ < most_of_rank) {
    waits_.push_back(wait);
    std::push_heap(first(), waits_.end(), is_longer_wait);
  } else if (is_longer_wait(wait, *first())) {
    std::pop_heap(first(), waits_.end(), is_longer_wait);
    waits_.back() = wait;
    std::push_heap(first(), waits_.end(), is_longer_wait);
  }
}

void LongestWaits::merge(LongestWaits&& part, const Renumbering& numbers) {
  for (LongWait each : part.waits_) {
    each.site = numbers.sites[each.site];
    waits_.push_back(each);
  }
  first_of_rank_ = waits_.size();
}

std::vector<LongWait> LongestWaits::take() {
  std::sort(waits_.begin(), waits_.end(), is_longer_wait);
  std::vector<LongWait> kept;
  std::vector<std::set<std::int32_t>> others;
  for (const LongWait& wait : waits_) {
    const auto longer = std::find_if(
        kept.begin(), kept.end(), [&](const LongWait& each) { return waits_overlap(each.when, wait.when); });
    if (longer == kept.end()) {
      if (kept.size() < most_) {
        kept.push_back(wait);
        others.emplace_back();
      }
    } else if (longer->rank != wait.rank) {
      others[static_cast<std::size_t>(longer - kept.begin())].insert(wait.rank);
    }
  }
  for (std::size_t i = 0; i < kept.size(); ++i) {
    kept[i].other_ranks = others[i].size();
  }
  waits_.clear();
  return kept;
}

void LongestWaits::finish(Report& report, SiteNames& names) {
  for (const LongWait& each : take()) {
    report.longest_waits.push_back({each.rank, each.when.begin_ns, each.when.end_ns - each.when.begin_ns,
                                    each.counted_ns, each.cause, each.counterpart, names.call_of(each.site),
                                    each.other_ranks, each.within_error_ns});
  }
}

}  // namespace penstock::analysis
