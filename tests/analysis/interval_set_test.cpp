#include "analysis/tables/interval_set.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock::analysis {
namespace {

using Intervals = std::vector<Interval>;

IntervalSet set_of(Intervals intervals) {
  return IntervalSet::union_of(std::move(intervals));
}

TEST(IntervalSet, union_sorts_merges_what_touches_and_drops_what_is_empty) {
  const IntervalSet set = set_of({{30, 40}, {10, 20}, {20, 25}, {15, 18}, {50, 50}, {70, 60}});
  EXPECT_EQ(set.intervals(), (Intervals{{10, 25}, {30, 40}}));
  EXPECT_EQ(set.measure_ns(), 25u);
}

TEST(IntervalSet, an_empty_set_measures_nothing) {
  EXPECT_EQ(IntervalSet().measure_ns(), 0u);
  EXPECT_EQ(IntervalSet().measure_within_ns(0, 100), 0u);
}

TEST(IntervalSet, measure_within_counts_parts_of_intervals) {
  const IntervalSet set = set_of({{10, 20}, {30, 40}});
  EXPECT_EQ(set.measure_within_ns(0, 100), 20u);
  EXPECT_EQ(set.measure_within_ns(15, 35), 10u);
  EXPECT_EQ(set.measure_within_ns(20, 30), 0u);
  EXPECT_EQ(set.measure_within_ns(12, 14), 2u);
  EXPECT_EQ(set.measure_within_ns(35, 15), 0u);
}

TEST(IntervalSet, subtract_cuts_holes) {
  EXPECT_EQ(subtract(set_of({{0, 100}}), set_of({{10, 20}, {90, 120}})).intervals(),
            (Intervals{{0, 10}, {20, 90}}));
  EXPECT_EQ(subtract(set_of({{0, 10}, {20, 30}}), set_of({{5, 25}})).intervals(),
            (Intervals{{0, 5}, {25, 30}}));
}

TEST(IntervalSet, divide_gives_both_parts) {
  IntervalSet inside;
  IntervalSet outside;
  divide(set_of({{0, 10}, {20, 30}, {50, 60}}), set_of({{5, 25}, {26, 27}, {40, 70}}), inside, outside);
  EXPECT_EQ(inside.intervals(), (Intervals{{5, 10}, {20, 25}, {26, 27}, {50, 60}}));
  EXPECT_EQ(outside.intervals(), (Intervals{{0, 5}, {25, 26}, {27, 30}}));
}

TEST(IntervalSet, that_is_changed_measures_what_it_is_now) {
  IntervalSet set = set_of({{0, 10}, {20, 30}});
  EXPECT_EQ(set.measure_within_ns(0, 100), 20u);
  set.cut_to({5, 25});
  EXPECT_EQ(set.measure_within_ns(0, 100), 10u);
  unite(set_of({{0, 50}}), set_of({{40, 60}}), set);
  EXPECT_EQ(set.measure_within_ns(0, 100), 60u);
  subtract(set_of({{0, 50}}), set_of({{40, 60}}), set);
  EXPECT_EQ(set.measure_within_ns(0, 100), 40u);
}

TEST(IntervalSet, intersect_keeps_what_both_have) {
  EXPECT_EQ(intersect(set_of({{0, 10}, {20, 30}}), set_of({{5, 25}})).intervals(),
            (Intervals{{5, 10}, {20, 25}}));
}

/// Against the definition, one nanosecond at a time.
TEST(IntervalSet, arithmetic_agrees_with_counting_single_nanoseconds) {
  constexpr std::uint64_t span_ns = 200;
  std::mt19937 random(7);
  const auto random_intervals = [&random] {
    Intervals intervals;
    for (std::uint64_t i = random() % 12; i > 0; --i) {
      const std::uint64_t begin = random() % span_ns;
      intervals.push_back({begin, begin + random() % 30});
    }
    return intervals;
  };
  const auto holds = [](const Intervals& intervals, std::uint64_t time) {
    for (const Interval& each : intervals) {
      if (each.begin_ns <= time && time < each.end_ns) {
        return true;
      }
    }
    return false;
  };
  for (int round = 0; round < 200; ++round) {
    const Intervals a = random_intervals();
    const Intervals b = random_intervals();
    std::uint64_t both = 0;
    std::uint64_t either = 0;
    std::uint64_t only_a = 0;
    for (std::uint64_t time = 0; time < span_ns + 30; ++time) {
      both += holds(a, time) && holds(b, time) ? 1 : 0;
      either += holds(a, time) || holds(b, time) ? 1 : 0;
      only_a += holds(a, time) && !holds(b, time) ? 1 : 0;
    }
    EXPECT_EQ(intersect(set_of(a), set_of(b)).measure_ns(), both);
    IntervalSet inside;
    IntervalSet outside;
    divide(set_of(a), set_of(b), inside, outside);
    EXPECT_EQ(inside.intervals(), intersect(set_of(a), set_of(b)).intervals());
    EXPECT_EQ(outside.intervals(), subtract(set_of(a), set_of(b)).intervals());
    EXPECT_EQ(unite(set_of(a), set_of(b)).measure_ns(), either);
    EXPECT_EQ(subtract(set_of(a), set_of(b)).measure_ns(), only_a);
  }
}

}  // namespace
}  // namespace penstock::analysis
