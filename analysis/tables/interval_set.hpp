// Sets of time as disjoint intervals: the arithmetic behind "exposed", "hidden" and "overlap". Must not know
// what the intervals stand for.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::analysis {

/// A half-open interval: [begin, end).
struct Interval {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  /// Returns true for a moment in it, or at its end.
  [[nodiscard]] bool touches(std::uint64_t time_ns) const noexcept {
    return begin_ns <= time_ns && time_ns <= end_ns;
  }
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A union of intervals, sorted and disjoint. Unit: ns. Cost: building is linear if the input is sorted.
/// Thread: one at a time, for looking at it, too.
class IntervalSet {
 public:
  IntervalSet() = default;
  [[nodiscard]] static IntervalSet union_of(std::vector<Interval> intervals);
  /// Does the same in place; `intervals` receives the set's old memory, to be filled again.
  void assign_union_of(std::vector<Interval>& intervals);
  /// Keeps only the part within `window`.
  void cut_to(Interval window);

  [[nodiscard]] const std::vector<Interval>& intervals() const noexcept { return intervals_; }
  [[nodiscard]] std::uint64_t measure_ns() const noexcept;
  /// Returns how much of [begin, end) lies in the set. Cost: logarithmic; the first time, linear.
  [[nodiscard]] std::uint64_t measure_within_ns(std::uint64_t begin_ns, std::uint64_t end_ns) const;

 private:
  friend void unite(const IntervalSet& left, const IntervalSet& right, IntervalSet& result);
  friend void subtract(const IntervalSet& left, const IntervalSet& right, IntervalSet& result);
  friend void divide(const IntervalSet& left, const IntervalSet& right, IntervalSet& inside,
                     IntervalSet& outside);
  [[nodiscard]] std::uint64_t measure_before_ns(std::uint64_t time_ns) const;
  void join_sorted();
  void sum_up() const;

  std::vector<Interval> intervals_;
  mutable std::vector<std::uint64_t> measure_before_each_ns_;  ///< empty: not known yet, or there is none
};

/// Measures spans that follow each other in time. The set must outlive the cursor and not change. Cost:
/// linear in the intervals in and between the spans; logarithmic for a span that begins before the previous
/// one.
class MeasureCursor {
 public:
  explicit MeasureCursor(const IntervalSet& set) : intervals_(set.intervals()) {}
  /// Returns how much of [begin, end) lies in the set.
  [[nodiscard]] std::uint64_t measure_within_ns(std::uint64_t begin_ns, std::uint64_t end_ns) noexcept {
    if (begin_ns < last_begin_ns_) {
      go_back_to(begin_ns);
    }
    last_begin_ns_ = begin_ns;
    while (next_ < intervals_.size() && intervals_[next_].end_ns <= begin_ns) {
      ++next_;
    }
    std::uint64_t sum_ns = 0;
    for (std::size_t i = next_; i < intervals_.size() && intervals_[i].begin_ns < end_ns; ++i) {
      const std::uint64_t from_ns = std::max(begin_ns, intervals_[i].begin_ns);
      const std::uint64_t to_ns = std::min(end_ns, intervals_[i].end_ns);
      sum_ns += from_ns < to_ns ? to_ns - from_ns : 0;
    }
    return sum_ns;
  }

 private:
  void go_back_to(std::uint64_t begin_ns) noexcept;

  const std::vector<Interval>& intervals_;
  std::size_t next_ = 0;  ///< the first interval that ends after the last span's begin
  std::uint64_t last_begin_ns_ = 0;
};

[[nodiscard]] IntervalSet unite(const IntervalSet& left, const IntervalSet& right);
[[nodiscard]] IntervalSet intersect(const IntervalSet& left, const IntervalSet& right);
/// Returns what is in `left` but not in `right`.
[[nodiscard]] IntervalSet subtract(const IntervalSet& left, const IntervalSet& right);
/// Write the result into the memory of a set that is no longer needed; it must be neither operand.
void unite(const IntervalSet& left, const IntervalSet& right, IntervalSet& result);
void subtract(const IntervalSet& left, const IntervalSet& right, IntervalSet& result);
/// Writes the parts of `left` that are in `right`, and those that are not.
void divide(const IntervalSet& left, const IntervalSet& right, IntervalSet& inside, IntervalSet& outside);
/// Returns the length of the intersection.
[[nodiscard]] std::uint64_t common_ns(const IntervalSet& left, const IntervalSet& right) noexcept;

}  // namespace penstock::analysis
