#include "interpose/posted/message_counts.hpp"

#include <gtest/gtest.h>

namespace penstock::interpose {
namespace {

TEST(MessageCounts, tell_peers_and_tags_apart) {
  MessageCounts counts;
  ++counts.open_count(1, 2)->posted;
  ++counts.open_count(1, 2)->posted;
  ++counts.open_count(2, 1)->posted;
  EXPECT_EQ(counts.open_count(1, 2)->posted, 2);
  EXPECT_EQ(counts.open_count(2, 1)->posted, 1);
  EXPECT_EQ(counts.open_count(1, 1)->posted, 0);
}

TEST(MessageCounts, that_are_closed_stay_closed) {
  MessageCounts counts;
  EXPECT_NE(counts.open_count(1, 2), nullptr);
  counts.close();
  EXPECT_FALSE(counts.is_open());
  EXPECT_EQ(counts.open_count(1, 2), nullptr);
}

TEST(MessageCounts, know_what_was_written_when_they_are_closed) {
  MessageCounts counts;
  counts.open_count(1, 2)->written = 5;
  counts.close();
  EXPECT_EQ(counts.last_written(1, 2), 5);
  EXPECT_EQ(counts.last_written(2, 1), 0);
}

TEST(MessageCounts, stay_where_they_are) {
  MessageCounts counts;
  MessageCounts::Count* const first = counts.open_count(0, 0);
  for (int tag = 1; tag < 1000; ++tag) static_cast<void>(counts.open_count(0, tag));
  EXPECT_EQ(counts.open_count(0, 0), first);
}

TEST(MessageCounts, of_too_many_tags_are_closed) {
  MessageCounts counts;
  for (std::size_t tag = 0; tag < MessageCounts::most_counts; ++tag)
    ASSERT_NE(counts.open_count(0, static_cast<int>(tag)), nullptr);
  EXPECT_NE(counts.open_count(0, 0), nullptr);  // known already
  EXPECT_EQ(counts.open_count(0, -1), nullptr);
  EXPECT_FALSE(counts.is_open());
}

}  // namespace
}  // namespace penstock::interpose
