#include "interpose/node/adverts.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <tuple>

namespace penstock::interpose {
namespace {

constexpr AdvertState all_advert_states[] = {AdvertState::free, AdvertState::open, AdvertState::taken,
                                             AdvertState::over};

TEST(AdvertMoves, stand_in_the_table_once) {
  std::set<std::tuple<AdvertSide, AdvertState, AdvertState>> seen;
  for (const AdvertMove& move : advert_moves) {
    EXPECT_TRUE(seen.insert({move.side, move.from, move.to}).second) << move.when;
    EXPECT_NE(move.from, move.to);
  }
}

TEST(AdvertMoves, reach_every_state_and_from_each_of_them_a_free_advert) {
  for (const AdvertState begin : all_advert_states) {
    std::set<AdvertState> found{begin};
    for (std::size_t before = 0; before != found.size();) {
      before = found.size();
      for (const AdvertMove& move : advert_moves) {
        if (found.contains(move.from)) found.insert(move.to);
      }
    }
    EXPECT_EQ(found.size(), std::size(all_advert_states));
  }
}

TEST(AdvertMoves, let_only_the_receiver_show_and_free_an_advert) {
  for (const AdvertMove& move : advert_moves) {
    if (move.from == AdvertState::free || move.to == AdvertState::free) {
      EXPECT_EQ(move.side, AdvertSide::receiver) << move.when;
    }
  }
}

TEST(Advert, that_was_taken_back_cannot_be_taken) {
  const auto advert = std::make_unique<Advert>();
  const std::uint32_t use = advert->show();
  EXPECT_TRUE((advert->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use)));
  EXPECT_FALSE((advert->move<AdvertSide::sender, AdvertState::open, AdvertState::taken>(use)));
}

TEST(Advert, that_was_taken_cannot_be_taken_back) {
  const auto advert = std::make_unique<Advert>();
  const std::uint32_t use = advert->show();
  EXPECT_TRUE((advert->move<AdvertSide::sender, AdvertState::open, AdvertState::taken>(use)));
  EXPECT_FALSE((advert->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use)));
  EXPECT_TRUE((advert->move<AdvertSide::sender, AdvertState::taken, AdvertState::over>(use)));
  EXPECT_TRUE((advert->move<AdvertSide::receiver, AdvertState::over, AdvertState::free>(use)));
}

TEST(Advert, in_another_use_is_not_what_it_was) {
  const auto advert = std::make_unique<Advert>();
  const std::uint32_t first = advert->show();
  EXPECT_TRUE((advert->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(first)));
  const std::uint32_t second = advert->show();
  EXPECT_NE(first, second);
  EXPECT_EQ(advert->get(first), AdvertState::free);
  EXPECT_EQ(advert->get(second), AdvertState::open);
  EXPECT_FALSE((advert->move<AdvertSide::sender, AdvertState::open, AdvertState::taken>(first)));
}

TEST(Advert, is_not_free_while_the_GPU_may_still_write_to_it) {
  const auto advert = std::make_unique<Advert>();
  EXPECT_TRUE(advert->is_free());
  advert->ready = 0;
  const std::uint32_t use = advert->show();
  EXPECT_FALSE(advert->is_free());
  EXPECT_TRUE((advert->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use)));
  EXPECT_FALSE(advert->is_free());
  advert->ready = 1;
  EXPECT_TRUE(advert->is_free());
}

/// A sender takes only what it has read the name of, and each use goes to one side only.
TEST(Advert, goes_to_one_side_in_each_use) {
  constexpr std::uint64_t rounds = 5000;
  const auto advert = std::make_unique<Advert>();
  std::atomic<bool> over{false};
  std::uint64_t taken = 0;
  bool is_right = true;
  std::thread sender([&] {
    while (!over) {
      const std::uint32_t use = advert->use();
      if (advert->get(use) != AdvertState::open) continue;
      const MessageName name = advert->name.get();
      if (!advert->move<AdvertSide::sender, AdvertState::open, AdvertState::taken>(use)) continue;
      ++taken;
      is_right = is_right && name.communicator == name.ordinal && name == advert->name.get();
      static_cast<void>(advert->move<AdvertSide::sender, AdvertState::taken, AdvertState::over>(use));
    }
  });
  std::uint64_t taken_back = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    advert->name.set({round, round, 1, 2});
    const std::uint32_t use = advert->show();
    if (round % 16 == 0) std::this_thread::yield();
    if (advert->move<AdvertSide::receiver, AdvertState::open, AdvertState::free>(use)) {
      ++taken_back;
      continue;
    }
    while (!advert->move<AdvertSide::receiver, AdvertState::over, AdvertState::free>(use))
      std::this_thread::yield();
  }
  over = true;
  sender.join();
  EXPECT_TRUE(is_right);
  EXPECT_EQ(taken + taken_back, rounds);
}

TEST(Advert, lies_where_its_name_says_and_names_are_spread) {
  std::set<std::uint32_t> places;
  for (std::uint64_t ordinal = 0; ordinal < adverts_per_rank; ++ordinal) {
    const std::uint32_t place = first_place_of({7, ordinal, 3, 1});
    EXPECT_LT(place, adverts_per_rank);
    places.insert(place);
  }
  EXPECT_GT(places.size(), adverts_per_rank / 3);
}

}  // namespace
}  // namespace penstock::interpose
