#include "analysis/longest_waits.hpp"

#include <algorithm>
#include <tuple>

namespace penstock::analysis {
namespace {

bool comes_first(const LongWait& left, const LongWait& right) {
  return std::tie(right.counted_ns, left.when.begin_ns, left.rank) <
         std::tie(left.counted_ns, right.when.begin_ns, right.rank);
}

bool overlap(Interval left, Interval right) {
  return left.begin_ns < right.end_ns && right.begin_ns < left.end_ns;
}

}  // namespace

void LongestWaits::add(const LongWait& wait) {
  if (waits_.size() == most_ && !comes_first(wait, waits_.back())) {
    return;
  }
  LongWait added = wait;
  for (LongWait& each : waits_) {
    if (overlap(each.when, wait.when) && comes_first(each, wait)) {
      each.other_ranks += each.rank == wait.rank ? 0 : 1;
      return;
    }
  }
  const auto shorter = [&](const LongWait& each) {
    if (!overlap(each.when, wait.when)) {
      return false;
    }
    added.other_ranks += each.other_ranks + (each.rank == wait.rank ? 0 : 1);
    return true;
  };
  waits_.erase(std::remove_if(waits_.begin(), waits_.end(), shorter), waits_.end());
  waits_.insert(std::upper_bound(waits_.begin(), waits_.end(), added, comes_first), added);
  waits_.resize(std::min(waits_.size(), most_));
}

}  // namespace penstock::analysis
