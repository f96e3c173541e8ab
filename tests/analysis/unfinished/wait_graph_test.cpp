#include "analysis/unfinished/wait_graph.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace penstock::analysis {
namespace {

using Needs = std::vector<std::vector<Need>>;

Need all_of(std::vector<std::int32_t> ranks) {
  return {std::move(ranks), false};
}
Need any_of(std::vector<std::int32_t> ranks) {
  return {std::move(ranks), true};
}

TEST(WaitGraph, ranks_that_wait_for_nobody_make_no_path) {
  const WaitPaths paths = find_wait_paths(Needs(5));
  EXPECT_TRUE(paths.cycles.empty());
  EXPECT_TRUE(paths.chains.empty());
}

TEST(WaitGraph, two_ranks_that_wait_for_each_other_are_a_cycle) {
  const WaitPaths paths = find_wait_paths({{all_of({1})}, {all_of({0})}});
  ASSERT_EQ(paths.cycles.size(), 1u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{0, 1}));
  EXPECT_EQ(paths.cycles[0].waiting_ranks, 2u);
  EXPECT_TRUE(paths.chains.empty());
}

TEST(WaitGraph, a_rank_that_waits_for_itself_is_a_cycle_of_one) {
  const WaitPaths paths = find_wait_paths({{}, {all_of({1})}});
  ASSERT_EQ(paths.cycles.size(), 1u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{1}));
}

TEST(WaitGraph, a_chain_ends_at_the_rank_that_waits_for_nobody) {
  const WaitPaths paths = find_wait_paths({{all_of({2})}, {}, {all_of({3})}, {all_of({1})}});
  EXPECT_TRUE(paths.cycles.empty());
  ASSERT_EQ(paths.chains.size(), 1u);
  EXPECT_EQ(paths.chains[0].ranks, (std::vector<std::int32_t>{0, 2, 3, 1}));
  EXPECT_EQ(paths.chains[0].waiting_ranks, 3u);
}

TEST(WaitGraph, those_who_wait_for_a_cycle_are_counted_and_are_no_cycle_themselves) {
  const WaitPaths paths = find_wait_paths({{all_of({2})}, {all_of({0})}, {all_of({3})}, {all_of({2})}});
  ASSERT_EQ(paths.cycles.size(), 1u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{2, 3}));
  EXPECT_EQ(paths.cycles[0].waiting_ranks, 4u);
}

TEST(WaitGraph, a_call_that_any_rank_can_end_is_in_no_cycle_if_one_of_them_goes_on) {
  const WaitPaths paths = find_wait_paths({{any_of({1, 2})}, {all_of({0})}, {}});
  EXPECT_TRUE(paths.cycles.empty());
  ASSERT_EQ(paths.chains.size(), 1u);
  EXPECT_EQ(paths.chains[0].ranks, (std::vector<std::int32_t>{1, 0, 2}));
}

TEST(WaitGraph, a_call_that_any_rank_can_end_is_in_a_cycle_if_all_of_them_wait) {
  const WaitPaths paths = find_wait_paths({{any_of({1, 2})}, {all_of({0})}, {all_of({1})}});
  ASSERT_EQ(paths.cycles.size(), 1u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{0, 1}));
}

TEST(WaitGraph, a_call_that_needs_all_is_in_a_cycle_if_one_of_them_never_comes) {
  const WaitPaths paths = find_wait_paths({{all_of({1, 2})}, {all_of({0})}, {}});
  ASSERT_EQ(paths.cycles.size(), 1u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{0, 1}));
}

TEST(WaitGraph, a_rank_goes_on_if_one_of_its_threads_can) {
  const WaitPaths paths = find_wait_paths({{all_of({1}), all_of({2})}, {all_of({0})}, {}});
  EXPECT_TRUE(paths.cycles.empty());
}

TEST(WaitGraph, cycles_apart_from_each_other_are_found_each) {
  const WaitPaths paths = find_wait_paths({{all_of({3})}, {all_of({2})}, {all_of({1})}, {all_of({0})}});
  ASSERT_EQ(paths.cycles.size(), 2u);
  EXPECT_EQ(paths.cycles[0].ranks, (std::vector<std::int32_t>{0, 3}));
  EXPECT_EQ(paths.cycles[1].ranks, (std::vector<std::int32_t>{1, 2}));
}

TEST(WaitGraph, a_ring_of_many_ranks_is_one_cycle) {
  constexpr std::int32_t ranks = 100'000;
  Needs needs;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    needs.push_back({all_of({(rank + 1) % ranks})});
  }
  const WaitPaths paths = find_wait_paths(needs);
  ASSERT_EQ(paths.cycles.size(), 1u);
  std::vector<std::int32_t> expected(ranks);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(paths.cycles[0].ranks, expected);
}

TEST(WaitGraph, many_ranks_in_a_barrier_wait_for_the_few_that_have_not_come) {
  constexpr std::int32_t ranks = 4096;
  Needs needs;
  for (std::int32_t rank = 0; rank < ranks; ++rank) {
    needs.push_back(rank == 77 || rank == 4000 ? std::vector<Need>{} : std::vector<Need>{all_of({77, 4000})});
  }
  needs[4000] = {all_of({77})};
  const WaitPaths paths = find_wait_paths(needs);
  EXPECT_TRUE(paths.cycles.empty());
  ASSERT_EQ(paths.chains.size(), 1u);
  EXPECT_EQ(paths.chains[0].ranks.back(), 77);
  EXPECT_EQ(paths.chains[0].waiting_ranks, 4095u);
}

}  // namespace
}  // namespace penstock::analysis
