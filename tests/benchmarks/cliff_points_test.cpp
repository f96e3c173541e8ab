#include "tests/benchmarks/cliff_points.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace penstock::benchmarks {
namespace {

constexpr double least_of_raw = 0.7;

MeasuredPoint measured(std::uint32_t number, std::size_t bytes, double message_s, double raw_s) {
  MeasuredPoint point;
  point.point.number = number;
  point.point.bytes = bytes;
  point.message_s = message_s;
  point.raw_s = raw_s;
  return point;
}

TEST(CliffPoints, a_series_has_growing_sizes_and_windows_that_fit_the_memory) {
  CliffWalk walk;
  walk.device_bytes = 1 << 20;
  const std::vector<CliffPoint> points = points_of(walk);
  ASSERT_FALSE(points.empty());
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (points[i].sender_kind == MemoryKind::device && points[i].to_device()) {
      EXPECT_LE(points[i].number * points[i].bytes, (1 << 20) + 256 * points[i].number);
    }
    if (i != 0 && points[i].is_of_series(points[i - 1])) {
      EXPECT_GT(points[i].bytes, points[i - 1].bytes);
    }
  }
}

TEST(CliffPoints, windows_of_64_are_measured_one_byte_beside_each_power_of_two) {
  const std::vector<CliffPoint> points = points_of({});
  for (const std::size_t bytes : {65535u, 65536u, 65537u}) {
    const CliffPoint wanted{MemoryKind::device, MemoryKind::device, false, 64, bytes};
    EXPECT_EQ(std::count(points.begin(), points.end(), wanted), 1) << bytes;
  }
}

TEST(CliffPoints, times_that_grow_with_the_size_are_no_cliff) {
  EXPECT_TRUE(find_cliffs({measured(1, 512, 8e-6, 7e-6), measured(1, 1024, 8e-6, 7e-6),
                           measured(1, 2048, 16e-6, 14e-6)},
                          least_of_raw)
                  .empty());
}

TEST(CliffPoints, a_point_below_the_part_of_raw_is_a_cliff_that_says_so) {
  const std::vector<Cliff> cliffs = find_cliffs({measured(1, 8, 10e-6, 5e-6)}, least_of_raw);
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].why, "0.50 of raw");
  EXPECT_FALSE(cliffs[0].by_neighbour);
}

TEST(CliffPoints, a_byte_more_that_takes_three_times_as_long_is_a_cliff) {
  const std::vector<Cliff> cliffs =
      find_cliffs({measured(1, 65536, 8e-6, 8e-6), measured(1, 65537, 24e-6, 24e-6)}, least_of_raw);
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].index, 1U);
  EXPECT_EQ(cliffs[0].why, "3.0 × slower a byte than 64 KiB");
}

TEST(CliffPoints, a_point_that_takes_longer_than_a_larger_one_is_a_cliff) {
  const std::vector<Cliff> cliffs =
      find_cliffs({measured(1, 4096, 90e-6, 90e-6), measured(1, 8192, 30e-6, 30e-6)}, least_of_raw);
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].index, 0U);
  EXPECT_EQ(cliffs[0].why, "3.0 × longer than 8 KiB");
}

TEST(CliffPoints, more_at_once_that_cost_more_each_are_a_cliff) {
  const std::vector<Cliff> cliffs =
      find_cliffs({measured(16, 1 << 28, 16e-3, 16e-3), measured(64, 1 << 28, 640e-3, 640e-3)}, least_of_raw);
  ASSERT_EQ(cliffs.size(), 1U);
  EXPECT_EQ(cliffs[0].index, 1U);
  EXPECT_EQ(cliffs[0].why, "10.0 × slower each than 16 at once");
}

TEST(CliffPoints, neighbours_that_are_slow_beside_raw_only_share_a_row_of_the_table) {
  const std::vector<MeasuredPoint> points = {measured(1, 8, 10e-6, 5e-6), measured(1, 16, 10e-6, 5e-6),
                                             measured(1, 32, 10e-6, 9e-6)};
  const std::string table = table_of(points, find_cliffs(points, least_of_raw));
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 3) << table;
  EXPECT_NE(table.find("8 B … 16 B"), std::string::npos) << table;
}

TEST(CliffPoints, the_csv_has_a_line_for_each_point) {
  const std::vector<MeasuredPoint> points = {measured(1, 8, 10e-6, 5e-6), measured(1, 16, 10e-6, 9e-6)};
  const std::string csv = csv_of(points, find_cliffs(points, least_of_raw));
  EXPECT_EQ(std::count(csv.begin(), csv.end(), '\n'), 3) << csv;
  EXPECT_NE(csv.find("device,device,non-blocking,1,8,10.000,5.000,0.0008,0.500,0.50 of raw\n"),
            std::string::npos)
      << csv;
}

}  // namespace
}  // namespace penstock::benchmarks
