#include "interpose/node/arrival_places.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace penstock::interpose {
namespace {

/// A rank's row, zero as in the directory, and its places.
struct Rank {
  std::unique_ptr<DirectoryRow> row{new DirectoryRow()};
  ArrivalPlaces places;

  std::optional<std::uint32_t> claim(std::uint64_t communicator) { return places.claim(*row, communicator); }
  void arrive(std::uint64_t communicator, std::uint32_t place, std::uint32_t ordinal) {
    note_arrival(*row, place, communicator, ordinal);
  }
  [[nodiscard]] Seen look(std::uint64_t communicator, std::uint32_t ordinal) const {
    return look_for_arrival(*row, communicator, ordinal);
  }
};

/// Communicators that would all have one place if there were no others.
constexpr std::uint64_t colliding(std::uint64_t number) {
  return (number + 1) << 33 | 17u;
}

TEST(ArrivalPlaces,
     a_rank_that_has_passed_one_communicators_collective_and_come_to_anothers_is_seen_at_both) {
  Rank rank;
  const auto first = rank.claim(colliding(0));
  const auto second = rank.claim(colliding(1));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::not_yet);
  rank.arrive(colliding(0), *first, 1);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(0), 2), Seen::not_yet);
  EXPECT_EQ(rank.look(colliding(1), 1), Seen::not_yet);
  rank.arrive(colliding(1), *second, 1);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(1), 1), Seen::here);
}

TEST(ArrivalPlaces, a_count_may_pass_the_end_of_its_range) {
  Rank rank;
  const auto place = rank.claim(5);
  ASSERT_TRUE(place);
  rank.arrive(5, *place, 0xffffffffu);
  EXPECT_EQ(rank.look(5, 0xfffffffeu), Seen::here);
  EXPECT_EQ(rank.look(5, 0), Seen::not_yet);
  rank.arrive(5, *place, 0);
  EXPECT_EQ(rank.look(5, 0xffffffffu), Seen::here);
}

TEST(ArrivalPlaces, a_freed_communicators_last_collective_is_still_seen) {
  Rank rank;
  const auto freed = rank.claim(colliding(0));
  ASSERT_TRUE(freed);
  rank.arrive(colliding(0), *freed, 3);
  rank.places.release(*freed);
  for (std::uint64_t next = 1; next < arrival_places; ++next) {
    const auto place = rank.claim(colliding(next));
    ASSERT_TRUE(place);
    rank.arrive(colliding(next), *place, 1);
    rank.places.release(*place);
    ASSERT_EQ(rank.look(colliding(0), 3), Seen::here) << next << " communicators later";
  }
}

TEST(ArrivalPlaces, when_all_are_taken_the_one_longest_free_is_used_again_and_what_it_said_is_unknown) {
  Rank rank;
  std::vector<std::uint32_t> places;
  for (std::uint64_t i = 0; i < arrival_places; ++i) {
    const auto place = rank.claim(colliding(i));
    ASSERT_TRUE(place);
    rank.arrive(colliding(i), *place, 1);
    places.push_back(*place);
  }
  EXPECT_EQ(rank.look(colliding(arrival_places), 1), Seen::not_yet);
  rank.places.release(places[7]);
  rank.places.release(places[3]);
  const auto again = rank.claim(colliding(arrival_places));
  ASSERT_EQ(again, places[7]);
  EXPECT_EQ(rank.look(colliding(arrival_places), 1), Seen::not_yet);
  rank.arrive(colliding(arrival_places), *again, 1);
  EXPECT_EQ(rank.look(colliding(arrival_places), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(3), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(7), 1), Seen::unknown);
}

TEST(ArrivalPlaces, with_more_communicators_than_places_the_others_are_told_that_not_all_have_one) {
  Rank rank;
  for (std::uint64_t i = 0; i < arrival_places; ++i) ASSERT_TRUE(rank.claim(i << 33));
  EXPECT_FALSE(rank.claim(colliding(arrival_places)));
  EXPECT_EQ(rank.look(colliding(arrival_places), 1), Seen::unknown);
}

TEST(ArrivalPlaces, two_communicators_that_cannot_be_told_apart_are_not_taken_for_each_other) {
  Rank rank;
  const auto first = rank.claim(colliding(0));
  ASSERT_TRUE(first);
  EXPECT_FALSE(rank.claim(colliding(0) + arrival_places));
}

}  // namespace
}  // namespace penstock::interpose
