// The tables and cursors that make looking up cheap, against the plain way; and what gives memory back.
#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

#include "analysis/joining/call_cursor.hpp"
#include "analysis/tables/id_table.hpp"
#include "analysis/tables/interval_set.hpp"
#include "analysis/tables/release.hpp"
#include "analysis/tables/sum_table.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::origin_ns;
using testing::RecordingBuilder;
using testing::TemporaryDirectory;

TEST(CallCursor, finds_what_call_at_finds_in_any_order_of_moments) {
  const TemporaryDirectory directory;
  std::mt19937 random(5);
  RecordingBuilder builder(0, 1);
  builder.runs(0, 10'000);
  for (std::uint64_t lane = 0; lane < 3; ++lane) {
    builder.on_lane(lane);
    for (std::uint64_t time = random() % 50; time < 9'000;) {
      const std::uint64_t end = time + random() % 40;
      builder.call({.function = "MPI_Recv", .begin = time, .end = end});
      time = end + 1 + random() % 60;
    }
  }
  const RankTrace rank = load_rank(builder.write(directory.path()));
  CallCursor cursor(rank);
  std::uint64_t time = 0;
  for (int i = 0; i < 20'000; ++i) {
    // mostly forward by little, at times back or far
    time = random() % 50 == 0 ? random() % 10'000 : time + random() % 30;
    time = random() % 7 == 0 ? time - std::min<std::uint64_t>(time, random() % 200) : time;
    const auto lane = static_cast<std::uint32_t>(random() % 5);  // two of them are not there
    ASSERT_EQ(cursor.call_at(lane, origin_ns + time), rank.call_at(lane, origin_ns + time)) << time;
    time %= 10'000;
  }
}

TEST(MeasureCursor, measures_what_the_set_measures_in_any_order_of_spans) {
  std::mt19937 random(7);
  std::vector<Interval> intervals;
  for (std::uint64_t time = 0; time < 5'000; time += 1 + random() % 40) {
    intervals.push_back({time, time + random() % 30});
  }
  const IntervalSet set = IntervalSet::union_of(intervals);
  MeasureCursor cursor(set);
  std::uint64_t begin = 0;
  for (int i = 0; i < 5'000; ++i) {
    begin = random() % 20 == 0 ? random() % 6'000 : (begin + random() % 20) % 6'000;
    const std::uint64_t end = begin + random() % 300;
    ASSERT_EQ(cursor.measure_within_ns(begin, end), set.measure_within_ns(begin, end)) << begin << ' ' << end;
  }
}

TEST(IntervalSet, cut_to_a_window_is_its_intersection_with_it) {
  const IntervalSet set = IntervalSet::union_of({{10, 20}, {30, 40}, {50, 60}});
  for (std::uint64_t begin = 0; begin < 70; begin += 5) {
    for (std::uint64_t end = 0; end < 70; end += 5) {
      IntervalSet cut = set;
      cut.cut_to({begin, end});
      const IntervalSet expected = intersect(set, IntervalSet::union_of({{begin, end}}));
      EXPECT_EQ(cut.intervals(), expected.intervals()) << begin << ' ' << end;
      EXPECT_EQ(cut.measure_ns(), expected.measure_ns());
      EXPECT_EQ(common_ns(set, IntervalSet::union_of({{begin, end}})), expected.measure_ns());
    }
  }
}

TEST(IdTable, keeps_numbers_that_only_damage_makes_apart) {
  IdTable<int> table;
  table[3] = 30;
  table[4'000'000'000u] = 40;
  ASSERT_NE(table.find(3), nullptr);
  EXPECT_EQ(*table.find(3), 30);
  EXPECT_EQ(table.find(2), nullptr);
  EXPECT_EQ(table.find(5), nullptr);
  ASSERT_NE(table.find(4'000'000'000u), nullptr);
  EXPECT_EQ(*table.find(4'000'000'000u), 40);
  table.clear();
  EXPECT_EQ(table.find(3), nullptr);
  EXPECT_EQ(table.find(4'000'000'000u), nullptr);
}

TEST(SumTable, adds_up_as_a_map_does_and_keeps_the_order_of_keys) {
  struct Hash {
    std::uint64_t operator()(std::uint64_t key) const noexcept { return mixed(0, key % 97); }  // many meet
  };
  std::mt19937 random(3);
  SumTable<std::uint64_t, Hash> table;
  std::map<std::uint64_t, std::uint64_t> map;
  std::vector<std::uint64_t> order;
  for (int i = 0; i < 10'000; ++i) {
    const std::uint64_t key = random() % 700;
    if (!map.contains(key)) {
      order.push_back(key);
    }
    const std::uint64_t added = random() % 100;
    map[key] += added;
    table[key] += added;
  }
  ASSERT_EQ(table.entries().size(), map.size());
  for (std::size_t i = 0; i < order.size(); ++i) {
    EXPECT_EQ(table.entries()[i].first, order[i]);
    EXPECT_EQ(table.entries()[i].second, map[order[i]]);
  }
}

TEST(Release, gives_the_memory_back) {
  std::vector<int> items(1'000);
  release(items);
  EXPECT_EQ(items.capacity(), 0u);
}

}  // namespace
}  // namespace penstock::analysis
