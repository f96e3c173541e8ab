#include "interpose/node/vote_slots.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

namespace penstock::interpose {
namespace {

/// A rank's row, zero as in the directory, and its slots.
struct Rank {
  std::unique_ptr<DirectoryRow> row{new DirectoryRow()};
  VoteSlots slots;

  std::optional<std::uint32_t> claim(std::uint64_t communicator) {
    const std::optional<ClaimedVoteSlot> claimed = slots.claim(*row, communicator);
    return claimed ? std::optional(claimed->index) : std::nullopt;
  }
  void arrive(std::uint32_t slot, std::uint32_t ordinal, Vote vote = Vote::library) {
    note_arrival(*row, slot, ordinal, {.vote = vote});
  }
  [[nodiscard]] Seen look(std::uint64_t communicator, std::uint32_t ordinal) const {
    return look_for_arrival(*row, communicator, ordinal).seen;
  }
  [[nodiscard]] Vote vote(std::uint64_t communicator, std::uint32_t ordinal) const {
    return look_for_arrival(*row, communicator, ordinal).ballot.vote;
  }
};

/// Communicators that would all have one slot if there were no others.
constexpr std::uint64_t colliding(std::uint64_t number) {
  return (number + 1) << 33 | 17u;
}

TEST(VoteSlots, a_rank_that_has_passed_one_communicators_collective_and_come_to_anothers_is_seen_at_both) {
  Rank rank;
  const auto first = rank.claim(colliding(0));
  const auto second = rank.claim(colliding(1));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::not_yet);
  rank.arrive(*first, 1);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(0), 2), Seen::not_yet);
  EXPECT_EQ(rank.look(colliding(1), 1), Seen::not_yet);
  rank.arrive(*second, 1);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(1), 1), Seen::here);
}

TEST(VoteSlots, a_count_may_pass_the_end_of_its_range) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  for (const std::uint32_t last : {0x7fffffffu, 0xffffffffu}) {
    for (std::uint32_t ordinal = last - 3; ordinal != last + 4; ++ordinal) {
      rank.arrive(*slot, ordinal, ordinal % 3 == 0 ? Vote::messages : Vote::any);
      EXPECT_EQ(rank.look(5, ordinal), Seen::here);
      EXPECT_EQ(rank.look(5, ordinal - 1), Seen::here);
      EXPECT_EQ(rank.look(5, ordinal + 1), Seen::not_yet);
      EXPECT_EQ(rank.vote(5, ordinal), ordinal % 3 == 0 ? Vote::messages : Vote::any);
    }
  }
  rank.arrive(*slot, 0xffffffffu);
  EXPECT_EQ(rank.look(5, 0xfffffffeu), Seen::here);
  EXPECT_EQ(rank.look(5, 0), Seen::not_yet);
  rank.arrive(*slot, 0);
  EXPECT_EQ(rank.look(5, 0xffffffffu), Seen::here);
}

TEST(VoteSlots, no_count_stands_for_a_failure_that_was_not_noted) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  for (const std::uint32_t ordinal : {0u, 1u, 0x80000000u, 0xffffffffu}) {
    EXPECT_FALSE(has_failed(*rank.row, 5, ordinal));
    note_failure(*rank.row, *slot, ordinal);
    EXPECT_TRUE(has_failed(*rank.row, 5, ordinal));
    EXPECT_FALSE(has_failed(*rank.row, 5, ordinal + 1));
    EXPECT_FALSE(has_failed(*rank.row, 5, any_collective));
  }
  note_failure(*rank.row, *slot, any_collective);
  EXPECT_TRUE(has_failed(*rank.row, 5, 0u));
  EXPECT_TRUE(has_failed(*rank.row, 5, any_collective));
}

TEST(VoteSlots, a_freed_communicators_last_collective_is_still_seen) {
  Rank rank;
  const auto freed = rank.claim(colliding(0));
  ASSERT_TRUE(freed);
  rank.arrive(*freed, 3);
  rank.slots.release(*freed);
  for (std::uint64_t next = 1; next < vote_slots; ++next) {
    const auto slot = rank.claim(colliding(next));
    ASSERT_TRUE(slot);
    rank.arrive(*slot, 1);
    rank.slots.release(*slot);
    ASSERT_EQ(rank.look(colliding(0), 3), Seen::here) << next << " communicators later";
  }
}

TEST(VoteSlots, when_all_are_taken_the_one_longest_free_is_used_again_and_what_it_said_is_unknown) {
  Rank rank;
  std::vector<std::uint32_t> slots;
  for (std::uint64_t i = 0; i < vote_slots; ++i) {
    const auto slot = rank.claim(colliding(i));
    ASSERT_TRUE(slot);
    rank.arrive(*slot, 1);
    slots.push_back(*slot);
  }
  EXPECT_EQ(rank.look(colliding(vote_slots), 1), Seen::not_yet);
  rank.slots.release(slots[7]);
  rank.slots.release(slots[3]);
  const auto again = rank.claim(colliding(vote_slots));
  ASSERT_EQ(again, slots[7]);
  EXPECT_EQ(rank.look(colliding(vote_slots), 1), Seen::not_yet);
  rank.arrive(*again, 1);
  EXPECT_EQ(rank.look(colliding(vote_slots), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(3), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(7), 1), Seen::unknown);
}

TEST(VoteSlots, with_more_communicators_than_places_the_others_are_told_that_not_all_have_one) {
  Rank rank;
  for (std::uint64_t i = 0; i < vote_slots; ++i) ASSERT_TRUE(rank.claim(i << 33));
  EXPECT_FALSE(rank.claim(colliding(vote_slots)));
  EXPECT_EQ(rank.look(colliding(vote_slots), 1), Seen::unknown);
}

TEST(VoteSlots, two_communicators_whose_ids_differ_in_one_half_are_not_taken_for_each_other) {
  Rank rank;
  const auto first = rank.claim(colliding(0));
  const auto second = rank.claim(colliding(0) + vote_slots);
  ASSERT_TRUE(first && second);
  rank.arrive(*first, 1);
  EXPECT_EQ(rank.look(colliding(0), 1), Seen::here);
  EXPECT_EQ(rank.look(colliding(0) + vote_slots, 1), Seen::not_yet);
}

TEST(VoteSlots, a_rank_that_is_one_collective_ahead_still_tells_what_it_preferred) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  rank.arrive(*slot, 1, Vote::messages);
  EXPECT_EQ(rank.vote(5, 1), Vote::messages);
  rank.arrive(*slot, 2, Vote::any);
  EXPECT_EQ(rank.vote(5, 1), Vote::messages);
  EXPECT_EQ(rank.vote(5, 2), Vote::any);
  rank.arrive(*slot, 3, Vote::library);
  EXPECT_EQ(rank.vote(5, 2), Vote::any);
  EXPECT_EQ(rank.vote(5, 3), Vote::library);
}

TEST(VoteSlots, a_rank_that_is_two_collectives_ahead_did_not_wait_and_so_had_no_preference) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  rank.arrive(*slot, 1);
  rank.arrive(*slot, 2);
  rank.arrive(*slot, 3, Vote::messages);
  EXPECT_EQ(rank.vote(5, 1), Vote::library);
  EXPECT_EQ(rank.vote(5, 3), Vote::messages);
}

TEST(VoteSlots, that_a_rank_met_others_is_remembered_for_two_collectives) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  EXPECT_FALSE(has_met_others(*rank.row, 5));
  EXPECT_FALSE(has_met_others(*rank.row, 6));
  note_arrival(*rank.row, *slot, 7, {.meets = true});
  EXPECT_TRUE(has_met_others(*rank.row, 5));
  note_arrival(*rank.row, *slot, 8, {});
  EXPECT_TRUE(has_met_others(*rank.row, 5));
  const std::uint16_t signature = signature_of(12345);
  note_arrival(*rank.row, *slot, 9, {.vote = Vote::messages, .defers = true, .signature = signature});
  EXPECT_FALSE(has_met_others(*rank.row, 5));
  const Ballot ballot = look_for_arrival(*rank.row, 5, 9).ballot;
  EXPECT_EQ(ballot.vote, Vote::messages);
  EXPECT_TRUE(ballot.defers);
  EXPECT_EQ(ballot.signature, signature);
  note_arrival(*rank.row, *slot, 10, {.signature = signature_of(1)});
  EXPECT_EQ(look_for_arrival(*rank.row, 5, 9).ballot.signature, signature);
  EXPECT_EQ(look_for_arrival(*rank.row, 5, 10).ballot.signature, signature_of(1));
}

TEST(VoteSlots, signatures_fit_into_a_note_and_differ_with_their_arguments) {
  int equal = 0;
  for (std::uint64_t arguments = 0; arguments < 1000; ++arguments) {
    EXPECT_GT(signature_of(arguments), 0);
    EXPECT_LT(signature_of(arguments), 4096);
    equal += signature_of(arguments) == signature_of(arguments + 1) ? 1 : 0;
  }
  EXPECT_LT(equal, 5);
}

TEST(VoteSlots, the_agreements_of_a_communicator_begin_anew_where_its_place_is_used_again) {
  Rank rank;
  const auto slot = rank.claim(5);
  ASSERT_TRUE(slot);
  AgreementRing* const agreements = find_agreements(*rank.row, 5);
  ASSERT_NE(agreements, nullptr);
  EXPECT_EQ(find_agreements(*rank.row, 6), nullptr);
  Agreement agreement(*agreements, 1);
  ASSERT_TRUE(agreement.vote(1, Decision::messages));
  agreement.give_up(3);
  rank.slots.release(*slot);
  for (std::uint64_t other = 0; find_agreements(*rank.row, 5) != nullptr; ++other)
    ASSERT_TRUE(rank.claim(colliding(other)));
  for (const auto& word : agreements->words) EXPECT_EQ(word.load(), 0u);
  EXPECT_EQ(agreements->given_up.load(), 0u);
}

TEST(VoteSlots, a_place_is_not_used_again_before_those_who_may_read_it_have_left) {
  Rank first;
  Rank second;
  const Readers both(*first.row, colliding(0), 2);
  const auto of_first = first.claim(colliding(0));
  const auto of_second = second.claim(colliding(0));
  ASSERT_TRUE(of_first && of_second);
  first.slots.release(of_first, both);
  EXPECT_NE(first.claim(colliding(1)), of_first);
  second.slots.release(of_second, both);
  EXPECT_EQ(first.claim(colliding(2)), of_first);
  // the second, who has been counted, does not find it any more
  EXPECT_EQ(second.claim(colliding(1)), of_second);
}

TEST(VoteSlots, come_back_to_a_rank_that_leaves_before_the_first_has_a_place) {
  Rank first;
  Rank second;
  const Readers both(*first.row, colliding(0), 2);
  const auto of_second = second.claim(colliding(0));
  second.slots.release(of_second, both);
  EXPECT_NE(second.claim(colliding(1)), of_second);
  const auto of_first = first.claim(colliding(0));
  first.slots.release(of_first, both);
  EXPECT_EQ(second.claim(colliding(2)), of_second);
  EXPECT_EQ(first.claim(colliding(2)), of_first);
}

TEST(VoteSlots, of_any_number_of_communicators_one_after_the_other_are_certain) {
  std::vector<std::unique_ptr<Rank>> ranks;
  for (int i = 0; i < 3; ++i) ranks.push_back(std::make_unique<Rank>());
  for (std::uint64_t id = 0; id < 3 * vote_slots; ++id) {
    const Readers all(*ranks.front()->row, colliding(id), 3);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      // they leave in another order than they come
      Rank& rank = *ranks[(i + id) % 3];
      const auto slot = rank.slots.claim(*rank.row, colliding(id));
      ASSERT_TRUE(slot && slot->is_certain);
      rank.arrive(slot->index, 1);
      for (const auto& other : ranks) {
        const Seen seen = other->look(colliding(id), 1);
        ASSERT_NE(seen, Seen::unknown);
      }
    }
    for (const auto& rank : ranks) {
      const auto again = find_agreements(*rank->row, colliding(id));
      ASSERT_NE(again, nullptr);
      rank->slots.release(static_cast<std::uint32_t>(again - rank->row->agreements), all);
    }
  }
}

TEST(VoteSlots, of_what_nobody_else_can_know_are_used_again_at_once) {
  Rank rank;
  const auto slot = rank.claim(5);
  rank.slots.release(slot, {*rank.row, 5, 0});
  EXPECT_EQ(rank.claim(5 + vote_slots), slot);
}

TEST(VoteSlots, a_place_of_a_rank_that_forgets_is_not_certain_to_be_found) {
  Rank rank;
  std::uint32_t some = 0;
  for (std::uint64_t i = 0; i < vote_slots; ++i) {
    const auto claimed = rank.slots.claim(*rank.row, colliding(i));
    ASSERT_TRUE(claimed && claimed->is_certain);
    some = claimed->index;
  }
  rank.slots.release(some);
  const auto again = rank.slots.claim(*rank.row, colliding(vote_slots));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->is_certain);
}

}  // namespace
}  // namespace penstock::interpose
