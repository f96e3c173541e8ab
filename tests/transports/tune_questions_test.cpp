// What penstock tune measures, and what it concludes from the times, without measuring.
#include "transports/tune/questions.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string_view>

namespace penstock::transports::tune {
namespace {

constexpr std::uint64_t mib = 1u << 20;

const Question& question(std::string_view name) {
  const auto all = questions();
  return *std::find_if(all.begin(), all.end(),
                       [&](const Question& each) { return name == each.parameter->name; });
}

/// One sample for each size of the question: times by the plainer way and by the other.
std::vector<Sample> samples(const Question& about, const std::vector<std::pair<double, double>>& times_ns) {
  std::vector<Sample> result;
  const std::vector<Point> points = points_of(about, never);
  for (std::size_t i = 0; i < times_ns.size(); ++i)
    result.push_back({points.at(i), {times_ns[i].first, times_ns[i].second}});
  return result;
}

std::optional<std::uint64_t> concluded(std::string_view name,
                                       const std::vector<std::pair<double, double>>& times_ns,
                                       bool whole = true) {
  return conclude(question(name), samples(question(name), times_ns), whole).value;
}

TEST(TuneQuestions, ask_for_every_figure_of_the_table_that_can_be_measured) {
  for (const TuningParameter& parameter : tuning_parameters()) {
    const auto all = questions();
    EXPECT_EQ(std::count_if(all.begin(), all.end(),
                            [&](const Question& each) { return each.parameter == &parameter; }),
              parameter.is_measured ? 1 : 0)
        << parameter.name;
  }
}

TEST(TuneQuestions, measure_with_figures_that_a_file_may_hold) {
  for (const Question& each : questions()) {
    for (const Point& point : points_of(each, never)) {
      EXPECT_GE(point.settings.size(), 2u);
      for (const std::uint64_t setting : point.settings) {
        if (setting == never && each.parameter->kind == TuningParameter::Kind::from) continue;
        EXPECT_GE(setting, each.parameter->least) << each.what;
        EXPECT_LE(setting, each.parameter->most) << each.what;
      }
    }
  }
}

TEST(TuneQuestions, that_would_need_larger_payloads_than_there_is_room_for_are_cut_short) {
  const Question& staged = question("staged_from");
  const std::vector<Point> points = points_of(staged, mib);
  EXPECT_EQ(points.size(), 3u);
  EXPECT_FALSE(is_whole(staged, points));
  EXPECT_TRUE(is_whole(staged, points_of(staged, 1024 * mib)));
  EXPECT_TRUE(points_of(question("relayed_chunk"), 4 * mib).empty());  // nothing to compare
}

TEST(TuneConclusion, is_the_size_from_which_the_other_way_wins_and_never_loses_again) {
  EXPECT_EQ(concluded("relayed_from", {{10, 20}, {20, 20}, {40, 30}, {80, 50}, {160, 80}, {320, 160}}),
            256u << 10);
  EXPECT_EQ(concluded("relayed_from", {{20, 10}, {20, 10}, {40, 30}, {80, 50}, {160, 80}, {320, 160}}),
            16u << 10);
  // wins early, loses late
  EXPECT_EQ(concluded("relayed_from", {{20, 10}, {20, 10}, {40, 30}, {80, 50}, {160, 80}, {160, 320}}),
            never);
  // a draw is no victory, but spoils none
  EXPECT_EQ(concluded("relayed_from", {{20, 10}, {20, 10}, {40, 40}, {80, 50}, {160, 160}, {320, 321}}),
            16u << 10);
  EXPECT_EQ(concluded("relayed_from", {{10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}, {10, 10}}), never);
}

TEST(TuneConclusion, is_the_size_up_to_which_the_other_way_wins) {
  EXPECT_EQ(concluded("batched_to", {{20, 10}, {20, 10}, {40, 30}, {80, 80}, {160, 200}, {100, 50}}),
            64u << 10);
  EXPECT_EQ(concluded("batched_to", {{10, 20}, {20, 10}, {40, 30}, {80, 80}, {160, 200}, {100, 50}}), 0u);
}

TEST(TuneConclusion, is_none_where_the_sizes_end_before_it_is_settled) {
  EXPECT_EQ(concluded("staged_from", {{10, 20}, {20, 30}}, false), std::nullopt);
  EXPECT_EQ(concluded("staged_from", {{10, 20}, {30, 20}}, false), 256u << 10);
  EXPECT_EQ(concluded("batched_to", {{20, 10}, {20, 10}}, false), std::nullopt);
  EXPECT_EQ(conclude(question("relayed_from"), {}, true).value, std::nullopt);
}

TEST(TuneConclusion, is_the_smallest_chunk_that_no_larger_one_beats) {
  const Question& about = question("staged_chunk");
  const Point point = points_of(about, never).front();
  ASSERT_EQ(point.settings, (std::vector<std::uint64_t>{mib, 2 * mib, 4 * mib, 8 * mib, 16 * mib}));
  EXPECT_EQ(conclude(about, {{point, {100, 90, 80, 79.5, 85}}}, true).value, 4 * mib);
  EXPECT_EQ(conclude(about, {{point, {100, 100, 100, 100, 100}}}, true).value, mib);
}

TEST(TuneConclusion, says_what_it_was_drawn_from) {
  EXPECT_EQ(
      conclude(question("staged_from"), samples(question("staged_from"), {{20'500, 30'000}}), false).remark,
      "64K 20.5/30.0");
}

TEST(TuneVariant, lets_nothing_but_the_figure_in_question_decide) {
  const Question& relayed = question("relayed_from");
  Tuning so_far = shipped_tuning();
  for (LinkTuning& link : so_far.links) link.staged_from = 0;
  const Tuning table = variant(relayed, 777, so_far);
  for (const LinkTuning& link : table.links) {
    EXPECT_EQ(link.relayed_from, 777u);
    EXPECT_EQ(link.staged_from, never);
  }
  EXPECT_EQ(table.staged_chunk, so_far.staged_chunk);
}

}  // namespace
}  // namespace penstock::transports::tune
