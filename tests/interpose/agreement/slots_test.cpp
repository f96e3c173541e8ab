#include "interpose/node/slots.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <set>

namespace penstock::interpose {
namespace {

constexpr SlotState all_slot_states[] = {SlotState::free,    SlotState::preparing, SlotState::offered,
                                         SlotState::pulling, SlotState::asked,     SlotState::done,
                                         SlotState::failed};

bool is_over(SlotState state) {
  return state == SlotState::done || state == SlotState::failed;
}

/// Every state that moves of these sides lead to.
std::set<SlotState> reachable_from(SlotState begin, std::initializer_list<Side> sides) {
  std::set<SlotState> found{begin};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const SlotMove& move : slot_moves) {
      if (std::ranges::find(sides, move.side) != sides.end() && found.contains(move.from))
        found.insert(move.to);
    }
  }
  return found;
}

TEST(SlotMoves, stand_in_the_table_once) {
  std::set<std::tuple<Side, SlotState, SlotState>> seen;
  for (const SlotMove& move : slot_moves) {
    EXPECT_TRUE(seen.insert({move.side, move.from, move.to}).second) << move.when;
    EXPECT_NE(move.from, move.to);
  }
}

TEST(SlotMoves, reach_every_state_and_from_each_of_them_a_free_slot) {
  EXPECT_EQ(reachable_from(SlotState::free, {Side::sender, Side::receiver}).size(),
            std::size(all_slot_states));
  for (const SlotState state : all_slot_states)
    EXPECT_TRUE(reachable_from(state, {Side::sender, Side::receiver}).contains(SlotState::free));
}

TEST(SlotMoves, let_only_the_sender_take_and_free_a_slot) {
  for (const SlotMove& move : slot_moves) {
    if (move.from != SlotState::free && move.to != SlotState::free) continue;
    EXPECT_EQ(move.side, Side::sender) << move.when;
  }
}

TEST(SlotMoves, let_nobody_but_the_receiver_say_that_a_payload_has_arrived) {
  for (const SlotMove& move : slot_moves) {
    if (move.to != SlotState::done) continue;
    EXPECT_EQ(move.side, Side::receiver) << move.when;
  }
}

TEST(SlotMoves, of_the_sender_never_touch_a_payload_that_is_being_fetched) {
  for (const SlotMove& move : slot_moves) {
    if (move.side != Side::sender || move.from != SlotState::pulling) continue;
    EXPECT_EQ(move.to, SlotState::failed) << move.when;
  }
}

TEST(SlotMoves, let_either_side_give_up_whatever_the_other_does) {
  for (const SlotState state : all_slot_states) {
    if (state == SlotState::free || is_over(state)) continue;
    for (const Side side : {Side::sender, Side::receiver})
      EXPECT_TRUE(StateWord<slot_moves>::may_move(side, state, SlotState::failed)) << static_cast<int>(state);
  }
}

TEST(SlotMoves, out_of_an_end_lead_only_to_a_free_slot) {
  for (const SlotMove& move : slot_moves) {
    if (!is_over(move.from)) continue;
    EXPECT_EQ(move.to, SlotState::free) << move.when;
  }
}

/// Shared memory begins as zeros.
std::unique_ptr<Slot> free_slot() {
  return std::make_unique<Slot>();
}

TEST(Slot, of_zeros_is_free) {
  EXPECT_EQ(free_slot()->get(), SlotState::free);
}

TEST(Slot, is_moved_by_the_side_that_comes_first) {
  const auto slot = free_slot();
  ASSERT_TRUE(slot->take());
  ASSERT_TRUE((slot->move<Side::sender, SlotState::preparing, SlotState::offered>()));
  EXPECT_TRUE((slot->move<Side::receiver, SlotState::offered, SlotState::pulling>(slot->generation())));
  EXPECT_FALSE((slot->move<Side::sender, SlotState::offered, SlotState::preparing>()));
  EXPECT_EQ(slot->get(), SlotState::pulling);
}

TEST(Slot, that_was_given_up_stays_so_until_its_sender_frees_it) {
  const auto slot = free_slot();
  ASSERT_TRUE(slot->take());
  slot->fail();
  EXPECT_TRUE(slot->is_over());
  EXPECT_FALSE((slot->move<Side::sender, SlotState::preparing, SlotState::offered>()));
  EXPECT_TRUE((slot->move<Side::sender, SlotState::failed, SlotState::free>()));
}

TEST(Slot, that_is_free_or_done_does_not_fail) {
  const auto slot = free_slot();
  slot->fail();
  EXPECT_EQ(slot->get(), SlotState::free);
  ASSERT_TRUE(slot->take());
  ASSERT_TRUE((slot->move<Side::sender, SlotState::preparing, SlotState::offered>()));
  const std::uint32_t use = slot->generation();
  ASSERT_TRUE((slot->move<Side::receiver, SlotState::offered, SlotState::pulling>(use)));
  ASSERT_TRUE((slot->move<Side::receiver, SlotState::pulling, SlotState::done>(use)));
  EXPECT_EQ(slot->fail(), SlotState::done);
  EXPECT_EQ(slot->get(), SlotState::done);
}

TEST(Slot, that_was_given_to_the_next_message_is_free_to_the_receiver_of_the_last_who_cannot_touch_it) {
  const auto slot = free_slot();
  ASSERT_TRUE(slot->take());
  const std::uint32_t last = slot->generation();
  ASSERT_TRUE((slot->move<Side::sender, SlotState::preparing, SlotState::offered>()));
  EXPECT_EQ(slot->get(last), SlotState::offered);
  EXPECT_EQ(slot->fail(), SlotState::offered);
  ASSERT_TRUE((slot->move<Side::sender, SlotState::failed, SlotState::free>()));
  ASSERT_TRUE(slot->take());
  ASSERT_TRUE((slot->move<Side::sender, SlotState::preparing, SlotState::offered>()));
  EXPECT_EQ(slot->get(last), SlotState::free);
  EXPECT_FALSE((slot->move<Side::receiver, SlotState::offered, SlotState::pulling>(last)));
  slot->fail(last);
  EXPECT_EQ(slot->get(), SlotState::offered);
  EXPECT_TRUE((slot->move<Side::receiver, SlotState::offered, SlotState::pulling>(slot->generation())));
}

}  // namespace
}  // namespace penstock::interpose
