#include "interpose/collectives/schedules/tag_ranges.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>

namespace penstock::interpose {
namespace {

TEST(TagRanges, of_calls_one_after_the_other_differ_and_none_is_that_of_blocking_ones) {
  constexpr int lanes = 100;
  for (const std::uint32_t first : {1u, 0x7fffffc0u, 0xffffffc0u}) {
    for (std::uint32_t ahead = 0; ahead < 200; ++ahead) {
      const int lane = TagRanges::of(first + ahead, lanes);
      EXPECT_GE(lane, 1);
      EXPECT_LE(lane, lanes);
      EXPECT_NE(lane, TagRanges::of(first + ahead + 1, lanes));
    }
  }
}

TEST(TagRanges, come_back_when_nobody_has_messages_there_any_more) {
  const auto lanes = std::make_shared<TagRanges>();
  constexpr int count = 10;
  TakenTags stays(lanes, TagRanges::of(3, count));
  for (std::uint32_t ordinal = 4; ordinal < 1000; ++ordinal) {
    const int lane = TagRanges::of(ordinal, count);
    ASSERT_EQ(lanes->is_taken(lane), ordinal % count == 3);
    if (ordinal % count == 3) continue;
    const TakenTags taken(lanes, lane);
    ASSERT_TRUE(lanes->is_taken(lane));
  }
}

}  // namespace
}  // namespace penstock::interpose
