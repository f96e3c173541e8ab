#include "analysis/interval_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::analysis {
namespace {

bool begins_earlier(const Interval& left, const Interval& right) {
  return left.begin_ns < right.begin_ns;
}

}  // namespace

IntervalSet IntervalSet::union_of(std::vector<Interval> intervals) {
  std::erase_if(intervals, [](const Interval& each) { return each.begin_ns >= each.end_ns; });
  if (!std::is_sorted(intervals.begin(), intervals.end(), begins_earlier)) {
    std::sort(intervals.begin(), intervals.end(), begins_earlier);
  }
  std::size_t kept = 0;
  for (const Interval& each : intervals) {
    if (kept != 0 && each.begin_ns <= intervals[kept - 1].end_ns) {
      intervals[kept - 1].end_ns = std::max(intervals[kept - 1].end_ns, each.end_ns);
    } else {
      intervals[kept++] = each;
    }
  }
  intervals.resize(kept);

  IntervalSet set;
  set.intervals_ = std::move(intervals);
  set.measure_before_each_ns_.reserve(kept);
  std::uint64_t sum_ns = 0;
  for (const Interval& each : set.intervals_) {
    set.measure_before_each_ns_.push_back(sum_ns);
    sum_ns += each.end_ns - each.begin_ns;
  }
  return set;
}

std::uint64_t IntervalSet::measure_ns() const noexcept {
  return intervals_.empty()
             ? 0
             : measure_before_each_ns_.back() + intervals_.back().end_ns - intervals_.back().begin_ns;
}

std::uint64_t IntervalSet::measure_before_ns(std::uint64_t time_ns) const noexcept {
  const auto after =
      std::upper_bound(intervals_.begin(), intervals_.end(), time_ns,
                       [](std::uint64_t time, const Interval& each) { return time < each.begin_ns; });
  if (after == intervals_.begin()) {
    return 0;
  }
  const auto index = static_cast<std::size_t>(std::distance(intervals_.begin(), after)) - 1;
  return measure_before_each_ns_[index] + std::min(time_ns, intervals_[index].end_ns) -
         intervals_[index].begin_ns;
}

std::uint64_t IntervalSet::measure_within_ns(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  return begin_ns < end_ns ? measure_before_ns(end_ns) - measure_before_ns(begin_ns) : 0;
}

IntervalSet unite(const IntervalSet& left, const IntervalSet& right) {
  std::vector<Interval> all;
  all.reserve(left.intervals().size() + right.intervals().size());
  std::merge(left.intervals().begin(), left.intervals().end(), right.intervals().begin(),
             right.intervals().end(), std::back_inserter(all), begins_earlier);
  return IntervalSet::union_of(std::move(all));
}

IntervalSet intersect(const IntervalSet& left, const IntervalSet& right) {
  std::vector<Interval> common;
  auto a = left.intervals().begin();
  auto b = right.intervals().begin();
  while (a != left.intervals().end() && b != right.intervals().end()) {
    const Interval both{std::max(a->begin_ns, b->begin_ns), std::min(a->end_ns, b->end_ns)};
    if (both.begin_ns < both.end_ns) {
      common.push_back(both);
    }
    (a->end_ns < b->end_ns) ? ++a : ++b;
  }
  return IntervalSet::union_of(std::move(common));
}

IntervalSet subtract(const IntervalSet& left, const IntervalSet& right) {
  std::vector<Interval> rest;
  auto cut = right.intervals().begin();
  for (Interval each : left.intervals()) {
    while (cut != right.intervals().end() && cut->end_ns <= each.begin_ns) {
      ++cut;
    }
    for (auto inner = cut; inner != right.intervals().end() && inner->begin_ns < each.end_ns; ++inner) {
      if (each.begin_ns < inner->begin_ns) {
        rest.push_back({each.begin_ns, inner->begin_ns});
      }
      each.begin_ns = std::max(each.begin_ns, inner->end_ns);
      if (each.begin_ns >= each.end_ns) {
        break;
      }
    }
    if (each.begin_ns < each.end_ns) {
      rest.push_back(each);
    }
  }
  return IntervalSet::union_of(std::move(rest));
}

}  // namespace penstock::analysis
