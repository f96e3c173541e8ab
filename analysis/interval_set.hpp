// Sets of time as disjoint intervals: the arithmetic behind "exposed", "hidden" and "overlap". Knows nothing
// of what the intervals stand for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace penstock::analysis {

/// Half open: [begin, end).
struct Interval {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
  friend bool operator==(const Interval&, const Interval&) = default;
};

/// A union of intervals, sorted and disjoint. Unit: ns. Cost: building is linear when the input is sorted.
class IntervalSet {
 public:
  IntervalSet() = default;
  [[nodiscard]] static IntervalSet union_of(std::vector<Interval> intervals);

  [[nodiscard]] const std::vector<Interval>& intervals() const noexcept { return intervals_; }
  [[nodiscard]] std::uint64_t measure_ns() const noexcept;
  /// How much of [begin, end) lies in the set. Cost: logarithmic.
  [[nodiscard]] std::uint64_t measure_within_ns(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;

 private:
  [[nodiscard]] std::uint64_t measure_before_ns(std::uint64_t time_ns) const noexcept;

  std::vector<Interval> intervals_;
  std::vector<std::uint64_t> measure_before_each_ns_;
};

[[nodiscard]] IntervalSet unite(const IntervalSet& left, const IntervalSet& right);
[[nodiscard]] IntervalSet intersect(const IntervalSet& left, const IntervalSet& right);
/// What is in `left` and not in `right`.
[[nodiscard]] IntervalSet subtract(const IntervalSet& left, const IntervalSet& right);

}  // namespace penstock::analysis
