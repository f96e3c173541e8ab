#include "analysis/tables/interval_set.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace penstock::analysis {
namespace {

bool begins_earlier(const Interval& left, const Interval& right) {
  return left.begin_ns < right.begin_ns;
}

/// Gives the parts of `left` that are in `right`, and those that are not, in their order.
template <typename Inside, typename Outside>
void for_each_part(const IntervalSet& left, const IntervalSet& right, Inside inside, Outside outside) {
  auto cut = right.intervals().begin();
  for (Interval each : left.intervals()) {
    while (cut != right.intervals().end() && cut->end_ns <= each.begin_ns) {
      ++cut;
    }
    for (auto inner = cut; inner != right.intervals().end() && inner->begin_ns < each.end_ns; ++inner) {
      if (each.begin_ns < inner->begin_ns) {
        outside(Interval{each.begin_ns, inner->begin_ns});
      }
      inside(Interval{std::max(each.begin_ns, inner->begin_ns), std::min(each.end_ns, inner->end_ns)});
      each.begin_ns = std::max(each.begin_ns, inner->end_ns);
      if (each.begin_ns >= each.end_ns) {
        break;
      }
    }
    if (each.begin_ns < each.end_ns) {
      outside(each);
    }
  }
}

}  // namespace

IntervalSet IntervalSet::union_of(std::vector<Interval> intervals) {
  IntervalSet set;
  set.assign_union_of(intervals);
  return set;
}

void IntervalSet::assign_union_of(std::vector<Interval>& intervals) {
  intervals_.swap(intervals);
  if (!std::is_sorted(intervals_.begin(), intervals_.end(), begins_earlier)) {
    std::sort(intervals_.begin(), intervals_.end(), begins_earlier);
  }
  join_sorted();
}

/// Turns intervals that are sorted by their begins into disjoint ones.
void IntervalSet::join_sorted() {
  std::size_t kept = 0;
  for (const Interval each : intervals_) {
    if (each.begin_ns >= each.end_ns) {
      continue;
    }
    if (kept != 0 && each.begin_ns <= intervals_[kept - 1].end_ns) {
      intervals_[kept - 1].end_ns = std::max(intervals_[kept - 1].end_ns, each.end_ns);
    } else {
      intervals_[kept++] = each;
    }
  }
  intervals_.resize(kept);
  measure_before_each_ns_.clear();
}

void IntervalSet::sum_up() const {
  measure_before_each_ns_.resize(intervals_.size());
  std::uint64_t sum_ns = 0;
  for (std::size_t i = 0; i < intervals_.size(); ++i) {
    measure_before_each_ns_[i] = sum_ns;
    sum_ns += intervals_[i].end_ns - intervals_[i].begin_ns;
  }
}

void IntervalSet::cut_to(Interval window) {
  if (window.begin_ns >= window.end_ns) {
    intervals_.clear();
  } else {
    const auto behind = std::partition_point(intervals_.begin(), intervals_.end(), [&](const Interval& each) {
      return each.begin_ns < window.end_ns;
    });
    intervals_.erase(behind, intervals_.end());
    const auto first = std::partition_point(intervals_.begin(), intervals_.end(), [&](const Interval& each) {
      return each.end_ns <= window.begin_ns;
    });
    intervals_.erase(intervals_.begin(), first);
  }
  if (!intervals_.empty()) {
    intervals_.front().begin_ns = std::max(intervals_.front().begin_ns, window.begin_ns);
    intervals_.back().end_ns = std::min(intervals_.back().end_ns, window.end_ns);
  }
  measure_before_each_ns_.clear();
}

std::uint64_t IntervalSet::measure_ns() const noexcept {
  std::uint64_t sum_ns = 0;
  for (const Interval each : intervals_) {
    sum_ns += each.end_ns - each.begin_ns;
  }
  return sum_ns;
}

std::uint64_t IntervalSet::measure_before_ns(std::uint64_t time_ns) const {
  if (measure_before_each_ns_.empty()) {
    sum_up();
  }
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

std::uint64_t IntervalSet::measure_within_ns(std::uint64_t begin_ns, std::uint64_t end_ns) const {
  return begin_ns < end_ns ? measure_before_ns(end_ns) - measure_before_ns(begin_ns) : 0;
}

IntervalSet unite(const IntervalSet& left, const IntervalSet& right) {
  IntervalSet result;
  unite(left, right, result);
  return result;
}

void unite(const IntervalSet& left, const IntervalSet& right, IntervalSet& result) {
  std::vector<Interval>& united = result.intervals_;
  united.clear();
  united.reserve(left.intervals().size() + right.intervals().size());
  Interval last;  // it may go on; empty: there is none yet
  const auto add = [&united, &last](const Interval each) {
    if (each.begin_ns <= last.end_ns) {
      last.end_ns = std::max(last.end_ns, each.end_ns);
    } else {
      if (last.begin_ns < last.end_ns) {
        united.push_back(last);
      }
      last = each;
    }
  };
  auto a = left.intervals().begin();
  auto b = right.intervals().begin();
  while (a != left.intervals().end() && b != right.intervals().end()) {
    add(begins_earlier(*b, *a) ? *b++ : *a++);
  }
  std::for_each(a, left.intervals().end(), add);
  std::for_each(b, right.intervals().end(), add);
  if (last.begin_ns < last.end_ns) {
    united.push_back(last);
  }
  result.measure_before_each_ns_.clear();
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
  IntervalSet result;
  subtract(left, right, result);
  return result;
}

void subtract(const IntervalSet& left, const IntervalSet& right, IntervalSet& result) {
  std::vector<Interval>& rest = result.intervals_;
  rest.clear();
  for_each_part(
      left, right, [](Interval) {}, [&rest](const Interval each) { rest.push_back(each); });
  result.measure_before_each_ns_.clear();
}

void divide(const IntervalSet& left, const IntervalSet& right, IntervalSet& inside, IntervalSet& outside) {
  inside.intervals_.clear();
  outside.intervals_.clear();
  for_each_part(
      left, right, [&inside](const Interval each) { inside.intervals_.push_back(each); },
      [&outside](const Interval each) { outside.intervals_.push_back(each); });
  inside.measure_before_each_ns_.clear();
  outside.measure_before_each_ns_.clear();
}

std::uint64_t common_ns(const IntervalSet& left, const IntervalSet& right) noexcept {
  std::uint64_t sum_ns = 0;
  auto a = left.intervals().begin();
  auto b = right.intervals().begin();
  while (a != left.intervals().end() && b != right.intervals().end()) {
    const std::uint64_t begin_ns = std::max(a->begin_ns, b->begin_ns);
    const std::uint64_t end_ns = std::min(a->end_ns, b->end_ns);
    sum_ns += begin_ns < end_ns ? end_ns - begin_ns : 0;
    (a->end_ns < b->end_ns) ? ++a : ++b;
  }
  return sum_ns;
}

void MeasureCursor::go_back_to(std::uint64_t begin_ns) noexcept {
  next_ = static_cast<std::size_t>(
      std::partition_point(intervals_.begin(), intervals_.end(),
                           [begin_ns](const Interval& each) { return each.end_ns <= begin_ns; }) -
      intervals_.begin());
}

}  // namespace penstock::analysis
