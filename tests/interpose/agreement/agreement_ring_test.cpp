#include "interpose/node/agreement_ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace penstock::interpose {
namespace {

struct TwoRanks : testing::Test {
  AgreementRing ring{};
  Agreement one{ring, 2};
  Agreement two{ring, 2};
};

TEST(Agreement, is_on_messages_once_all_have_agreed) {
  AgreementRing ring{};
  Agreement one(ring, 3);
  Agreement two(ring, 3);
  Agreement three(ring, 3);
  EXPECT_TRUE(one.vote(1, Decision::messages));
  EXPECT_TRUE(two.vote(1, Decision::messages));
  EXPECT_FALSE(one.outcome(1));
  EXPECT_FALSE(three.outcome(1));
  EXPECT_TRUE(three.vote(1, Decision::messages));
  for (Agreement* rank : {&one, &two, &three}) EXPECT_EQ(rank->outcome(1), Decision::messages);
}

TEST(Agreement, is_on_the_library_as_soon_as_one_refuses) {
  AgreementRing ring{};
  Agreement one(ring, 3);
  Agreement two(ring, 3);
  EXPECT_TRUE(one.vote(1, Decision::messages));
  EXPECT_TRUE(two.vote(1, Decision::library));
  EXPECT_EQ(one.outcome(1), Decision::library);
  EXPECT_EQ(two.outcome(1), Decision::library);
}

TEST_F(TwoRanks, leave_it_to_the_library_where_their_signatures_differ) {
  EXPECT_TRUE(one.vote(1, Decision::messages, 5));
  EXPECT_TRUE(two.vote(1, Decision::messages, 6));
  EXPECT_EQ(one.outcome(1), Decision::library);
  EXPECT_EQ(two.outcome(1), Decision::library);
  EXPECT_TRUE(one.vote(2, Decision::messages, 2047));
  EXPECT_TRUE(two.vote(2, Decision::messages, 2047));
  EXPECT_EQ(one.outcome(2), Decision::messages);
  // who has not signed fits to all
  EXPECT_TRUE(one.vote(3, Decision::messages));
  EXPECT_TRUE(two.vote(3, Decision::messages, 1));
  EXPECT_EQ(one.outcome(3), Decision::messages);
}

TEST_F(TwoRanks, agree_on_kernels_if_both_would_have_them) {
  EXPECT_TRUE(one.vote(1, Decision::kernels, 5));
  EXPECT_FALSE(one.outcome(1));
  EXPECT_TRUE(two.vote(1, Decision::kernels, 5));
  for (Agreement* rank : {&one, &two}) EXPECT_EQ(rank->outcome(1), Decision::kernels);
  EXPECT_TRUE(one.vote(2, Decision::kernels));
  EXPECT_TRUE(two.vote(2, Decision::messages));
  for (Agreement* rank : {&one, &two}) EXPECT_EQ(rank->outcome(2), Decision::messages);
  EXPECT_TRUE(one.vote(3, Decision::library));
  EXPECT_TRUE(two.vote(3, Decision::kernels));
  for (Agreement* rank : {&one, &two}) EXPECT_EQ(rank->outcome(3), Decision::library);
  EXPECT_TRUE(one.vote(4, Decision::kernels, 5));
  EXPECT_TRUE(two.vote(4, Decision::kernels, 6));
  for (Agreement* rank : {&one, &two}) EXPECT_EQ(rank->outcome(4), Decision::library);
}

TEST_F(TwoRanks, keep_to_messages_when_one_gives_up_later) {
  EXPECT_TRUE(one.vote(1, Decision::messages));
  EXPECT_TRUE(two.vote(1, Decision::messages));
  one.give_up(1);
  EXPECT_EQ(one.outcome(1), Decision::messages);
  EXPECT_EQ(two.outcome(1), Decision::messages);
}

TEST_F(TwoRanks, leave_it_to_the_library_where_one_gave_up_before_both_had_agreed) {
  EXPECT_TRUE(one.vote(1, Decision::messages));
  one.give_up(1);
  EXPECT_EQ(one.outcome(1), Decision::library);
  EXPECT_TRUE(two.vote(1, Decision::messages));
  EXPECT_EQ(two.outcome(1), Decision::library);
  EXPECT_TRUE(one.vote(2, Decision::messages));
  EXPECT_FALSE(one.outcome(2));
  EXPECT_TRUE(two.vote(2, Decision::messages));
  EXPECT_EQ(one.outcome(2), Decision::messages);
}

TEST(Agreement, has_words_for_so_many_that_not_all_have_seen) {
  AgreementRing ring{};
  Agreement ahead(ring, 2);
  Agreement behind(ring, 2);
  for (std::uint32_t ordinal = 1; ordinal <= AgreementRing::length; ++ordinal) {
    EXPECT_TRUE(ahead.vote(ordinal, Decision::library));
    EXPECT_TRUE(ahead.mark_seen(ordinal));
  }
  constexpr std::uint32_t next = AgreementRing::length + 1;
  EXPECT_FALSE(ahead.vote(next, Decision::messages));
  EXPECT_FALSE(ahead.outcome(next));
  EXPECT_TRUE(behind.mark_seen(1));
  EXPECT_TRUE(ahead.vote(next, Decision::messages));
}

TEST(Agreement, one_who_gives_up_beyond_the_words_finds_an_outcome_for_all) {
  AgreementRing ring{};
  Agreement ahead(ring, 2);
  Agreement behind(ring, 2);
  constexpr std::uint32_t last = 3 * AgreementRing::length;
  ahead.give_up(last);
  for (std::uint32_t ordinal = 1; ordinal <= last; ++ordinal)
    EXPECT_EQ(ahead.outcome(ordinal), Decision::library);
  for (std::uint32_t ordinal = 1; ordinal <= last; ++ordinal) {
    static_cast<void>(behind.vote(ordinal, Decision::messages));
    EXPECT_EQ(behind.outcome(ordinal), Decision::library);
    EXPECT_TRUE(ahead.mark_seen(ordinal));
    EXPECT_TRUE(behind.mark_seen(ordinal));
  }
  EXPECT_TRUE(ahead.vote(last + 1, Decision::messages));
  EXPECT_TRUE(behind.vote(last + 1, Decision::messages));
  EXPECT_EQ(ahead.outcome(last + 1), Decision::messages);
}

constexpr std::uint64_t before_wrapping[] = {(std::uint64_t{1} << 31) - 20, (std::uint64_t{1} << 32) - 20};

TEST(Agreement, is_the_same_where_the_count_passes_the_end_of_its_range) {
  for (const std::uint64_t begin : before_wrapping) {
    AgreementRing ring{};
    ring.continue_after(begin, 2);
    Agreement ahead(ring, 2);
    Agreement behind(ring, 2);
    for (std::uint64_t ordinal = begin + 1; ordinal < begin + 40; ++ordinal) {
      ASSERT_TRUE(ahead.vote(ordinal, Decision::messages));
      ASSERT_FALSE(ahead.outcome(ordinal)) << ordinal << ": nobody has given up";
      ASSERT_TRUE(behind.vote(ordinal, Decision::messages));
      for (Agreement* rank : {&ahead, &behind}) {
        ASSERT_EQ(rank->outcome(ordinal), Decision::messages);
        ASSERT_TRUE(rank->mark_seen(ordinal));
      }
    }
    // one is so far ahead that it finds no word, and gives up
    const std::uint64_t last = begin + 40 + 2 * AgreementRing::length;
    ahead.give_up(last);
    for (std::uint64_t ordinal = begin + 40; ordinal <= last; ++ordinal) {
      ASSERT_EQ(ahead.outcome(ordinal), Decision::library);
      ASSERT_TRUE(ahead.mark_seen(ordinal));
      ASSERT_EQ(behind.outcome(ordinal), Decision::library);
      ASSERT_TRUE(behind.mark_seen(ordinal));
    }
    ASSERT_TRUE(ahead.vote(last + 1, Decision::kernels));
    ASSERT_FALSE(ahead.outcome(last + 1));
  }
}

/// A rank of the test below: comes to collectives, agrees or not, gives up now and then.
class Comer {
 public:
  Comer(AgreementRing& ring, int ranks, unsigned seed, std::uint64_t first, std::uint64_t last)
      : agreement_(ring, ranks),
        random_(seed),
        last_(last),
        come_(first),
        said_(first),
        known_(first),
        marked_(first) {}

  [[nodiscard]] bool is_over() const { return marked_ == last_; }
  void step() {
    if (random_() % 4 == 0 && come_ != last_) ++come_;
    said_ = std::max(said_, known_);
    while (said_ < come_ && agreement_.vote(said_ + 1, any_way())) ++said_;
    while (marked_ < known_ && agreement_.mark_seen(marked_ + 1)) ++marked_;
    if (random_() % 64 == 0) agreement_.give_up(come_);
    while (known_ < come_) {
      const std::optional<Decision> way = agreement_.outcome(known_ + 1);
      if (!way) break;
      ways_.push_back(*way);
      ++known_;
    }
  }
  [[nodiscard]] const std::vector<Decision>& ways() const { return ways_; }

 private:
  [[nodiscard]] Decision any_way() {
    const auto number = random_() % 16;
    return number == 0 ? Decision::library : number < 4 ? Decision::messages : Decision::kernels;
  }

  Agreement agreement_;
  std::minstd_rand random_;
  std::uint64_t last_;
  std::uint64_t come_;
  std::uint64_t said_;
  std::uint64_t known_;
  std::uint64_t marked_;
  std::vector<Decision> ways_;
};

using Comers = std::vector<std::unique_ptr<Comer>>;

Comers make_comers(AgreementRing& ring, unsigned seed, std::uint64_t first = 0) {
  constexpr int ranks = 4;
  constexpr std::uint64_t length = 3000;
  ring.continue_after(first, ranks);
  Comers comers;
  for (unsigned rank = 0; rank < ranks; ++rank)
    comers.push_back(std::make_unique<Comer>(ring, ranks, seed * 100 + rank, first, first + length));
  return comers;
}

void expect_same_ways(const Comers& comers) {
  for (const auto& comer : comers) EXPECT_EQ(comer->ways(), comers.front()->ways());
}

TEST(Agreement, is_the_same_on_all_ranks_whoever_runs_ahead_refuses_or_gives_up) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    AgreementRing ring{};
    const std::uint64_t first = seed % 3 == 0 ? 0 : before_wrapping[seed % 3 - 1] - 1500;
    const Comers comers = make_comers(ring, seed, first);
    std::minstd_rand random(seed);
    while (!std::ranges::all_of(comers, [](const auto& comer) { return comer->is_over(); })) {
      Comer& one = *comers[random() % comers.size()];
      for (auto steps = random() % 8; steps > 0; --steps) one.step();
    }
    expect_same_ways(comers);
    const auto& ways = comers.front()->ways();
    EXPECT_GT(std::count(ways.begin(), ways.end(), Decision::messages), 0);
    EXPECT_GT(std::count(ways.begin(), ways.end(), Decision::library), 0);
    EXPECT_GT(std::count(ways.begin(), ways.end(), Decision::kernels), 0);
  }
}

TEST(Agreement, is_the_same_on_ranks_that_come_at_the_same_time) {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    AgreementRing ring{};
    const Comers comers = make_comers(ring, seed);
    std::vector<std::thread> threads;
    threads.reserve(comers.size());
    for (const auto& comer : comers) {
      threads.emplace_back([&one = *comer] {
        while (!one.is_over()) {
          one.step();
          std::this_thread::yield();
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    expect_same_ways(comers);
  }
}

}  // namespace
}  // namespace penstock::interpose
