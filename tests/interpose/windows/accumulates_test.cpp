// Accumulates into windows of device memory: operations, types, and that concurrent ones are atomic.
#include <algorithm>
#include <array>
#include <thread>

#include "tests/interpose/windows/window_memory.hpp"

namespace penstock::windows {
namespace {

constexpr std::array mixed = {MemoryKind::device, MemoryKind::pageable, MemoryKind::pinned};
constexpr std::array origins = {MemoryKind::device, MemoryKind::pageable};

class Accumulates : public testing::TestWithParam<MemoryKind> {};

TEST_P(Accumulates, of_all_ranks_into_one_place_lose_nothing) {
  constexpr std::size_t count = 500;
  constexpr int rounds = 20;
  WindowOf<double> window(kind_of_rank(mixed), count, 1.0);
  const Elements<double> origin(GetParam(), count, 0.5 * (rank() + 1));
  MPI_Win_fence(0, window.get());
  for (int round = 0; round < rounds; ++round) {
    for (int target = 0; target < ranks(); ++target) {
      ASSERT_EQ(MPI_Accumulate(origin.data(), count, MPI_DOUBLE, target, 0, count, MPI_DOUBLE, MPI_SUM,
                               window.get()),
                MPI_SUCCESS);
    }
  }
  MPI_Win_fence(0, window.get());
  const double sum = 0.5 * ranks() * (ranks() + 1) / 2 * rounds;
  EXPECT_EQ(window.elements().get(), std::vector<double>(count, 1.0 + sum));
}

TEST_P(Accumulates, fetch_what_was_there_before_each) {
  WindowOf<long> window(kind_of_rank(mixed), 2, 0);
  Elements<long> one(GetParam(), 1, 1);
  Elements<long> before(GetParam(), 1, -1);
  constexpr int rounds = 40;
  std::vector<long> seen;
  MPI_Win_lock_all(0, window.get());
  for (int round = 0; round < rounds; ++round) {
    ASSERT_EQ(MPI_Fetch_and_op(one.data(), before.data(), MPI_LONG, 0, 1, MPI_SUM, window.get()),
              MPI_SUCCESS);
    MPI_Win_flush(0, window.get());
    seen.push_back(before[0]);
  }
  MPI_Win_unlock_all(window.get());
  std::vector<long> all(static_cast<std::size_t>(rounds * ranks()));
  MPI_Allgather(seen.data(), rounds, MPI_LONG, all.data(), rounds, MPI_LONG, MPI_COMM_WORLD);
  std::ranges::sort(all);
  for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i], static_cast<long>(i));
}

/// So many in a row that a kernel becomes resident, which makes them in one step.
TEST_P(Accumulates, of_one_element_follow_each_other_in_a_loop) {
  constexpr int rounds = 300;
  WindowOf<int> window(MemoryKind::device, static_cast<std::size_t>(ranks()), 0);
  Elements<int> operands(GetParam(), rounds);
  Elements<int> compared(GetParam(), rounds);
  Elements<int> results(GetParam(), 3 * rounds, -1);
  std::vector<int> numbers(rounds);
  for (int i = 0; i < rounds; ++i) numbers[static_cast<std::size_t>(i)] = i % 7 + 1;
  operands.set(numbers);
  std::vector<int> expected(3 * rounds);
  std::vector<int> compared_with(rounds);
  int value = 0;
  for (std::size_t i = 0; i < rounds; ++i) {
    expected[3 * i] = value;
    value += numbers[i];
    expected[3 * i + 1] = value;
    compared_with[i] = i % 3 == 0 ? value : value + 1;  // every third one is swapped
    if (i % 3 == 0) value = numbers[i];
    expected[3 * i + 2] = value;
  }
  compared.set(compared_with);
  const int target = (rank() + 1) % ranks();
  MPI_Win_lock_all(0, window.get());
  for (int i = 0; i < rounds; ++i) {
    int* const to = results.data() + 3 * i;
    MPI_Fetch_and_op(operands.data() + i, to, MPI_INT, target, rank(), MPI_SUM, window.get());
    MPI_Compare_and_swap(operands.data() + i, compared.data() + i, to + 1, MPI_INT, target, rank(),
                         window.get());
    MPI_Fetch_and_op(nullptr, to + 2, MPI_INT, target, rank(), MPI_NO_OP, window.get());
    MPI_Win_flush(target, window.get());
  }
  MPI_Win_unlock_all(window.get());
  EXPECT_EQ(results.get(), expected);
  MPI_Barrier(MPI_COMM_WORLD);
  EXPECT_EQ(window.elements()[static_cast<std::size_t>((rank() + ranks() - 1) % ranks())], value);
}

TEST_P(Accumulates, MPI_Compare_and_swap_has_one_winner) {
  WindowOf<int> window(kind_of_rank(mixed), 1, -1);
  Elements<int> own(GetParam(), 1, rank());
  const Elements<int> nobody(GetParam(), 1, -1);
  Elements<int> before(GetParam(), 1, -2);
  for (int target = 0; target < ranks(); ++target) {
    MPI_Win_lock(MPI_LOCK_SHARED, target, 0, window.get());
    ASSERT_EQ(
        MPI_Compare_and_swap(own.data(), nobody.data(), before.data(), MPI_INT, target, 0, window.get()),
        MPI_SUCCESS);
    MPI_Win_unlock(target, window.get());
    int winners = before[0] == -1 ? 1 : 0;
    MPI_Allreduce(MPI_IN_PLACE, &winners, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    EXPECT_EQ(winners, 1);
  }
}

TEST_P(Accumulates, MPI_REPLACE_and_MPI_NO_OP) {
  WindowOf<int> window(kind_of_rank(mixed), 4, 0);
  window.elements().set({10 * rank(), 10 * rank() + 1, 10 * rank() + 2, 10 * rank() + 3});
  const int target = (rank() + 1) % ranks();
  Elements<int> origin(GetParam(), 2, 500 + rank());
  Elements<int> before(GetParam(), 2, -1);
  MPI_Win_fence(0, window.get());
  ASSERT_EQ(MPI_Get_accumulate(nullptr, 0, MPI_INT, before.data(), 2, MPI_INT, target, 1, 2, MPI_INT,
                               MPI_NO_OP, window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(before.get(), (std::vector<int>{10 * target + 1, 10 * target + 2}));
  ASSERT_EQ(MPI_Get_accumulate(origin.data(), 2, MPI_INT, before.data(), 2, MPI_INT, target, 2, 2, MPI_INT,
                               MPI_REPLACE, window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(before.get(), (std::vector<int>{10 * target + 2, 10 * target + 3}));
  const int from = (rank() + ranks() - 1) % ranks();
  EXPECT_EQ(window.elements().get(),
            (std::vector<int>{10 * rank(), 10 * rank() + 1, 500 + from, 500 + from}));
}

TEST_P(Accumulates, combine_pairs_with_gaps_between) {
  struct Pair {
    double value;
    int place;
    bool operator==(const Pair&) const = default;
  };
  WindowOf<Pair> window(kind_of_rank(mixed), 3, Pair{1.0, 77});
  Elements<Pair> origin(GetParam(), 3);
  origin.set({{0.5, rank()}, {1.0 + rank(), rank()}, {1.0, rank()}});
  MPI_Win_fence(0, window.get());
  for (int target = 0; target < ranks(); ++target) {
    ASSERT_EQ(MPI_Accumulate(origin.data(), 3, MPI_DOUBLE_INT, target, 0, 3, MPI_DOUBLE_INT, MPI_MAXLOC,
                             window.get()),
              MPI_SUCCESS);
  }
  MPI_Win_fence(0, window.get());
  const std::vector<Pair> got = window.elements().get();
  EXPECT_TRUE(got[0] == (Pair{1.0, 77}));
  EXPECT_TRUE(got[1] == (Pair{static_cast<double>(ranks()), ranks() - 1}));
  EXPECT_TRUE(got[2] == (Pair{1.0, 0}));
}

TEST_P(Accumulates, combine_pairs_that_a_derived_type_packs_without_gaps) {
  struct __attribute__((packed)) Pair {
    double value;
    int place;
    bool operator==(const Pair&) const = default;
  };
  static_assert(sizeof(Pair) == 12);
  const std::array<int, 4> lengths{1, 1, 1, 1};
  const std::array<MPI_Aint, 4> places{0, 12, 24, 36};
  MPI_Datatype packed = MPI_DATATYPE_NULL;
  MPI_Type_create_hindexed(4, lengths.data(), places.data(), MPI_DOUBLE_INT, &packed);
  MPI_Type_commit(&packed);
  WindowOf<Pair> window(kind_of_rank(mixed), 4);
  window.elements().set({{1.0, 10}, {5.0, 11}, {2.0, 12}, {6.0, 13}});
  Elements<Pair> origin(GetParam(), 4);
  origin.set({{3.0, 20}, {4.0, 21}, {2.0, 5}, {7.0, 23}});
  MPI_Win_fence(0, window.get());
  ASSERT_EQ(MPI_Accumulate(origin.data(), 1, packed, (rank() + 1) % ranks(), 0, 1, packed, MPI_MAXLOC,
                           window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_TRUE(window.elements().get() == (std::vector<Pair>{{3.0, 20}, {5.0, 11}, {2.0, 5}, {7.0, 23}}));
  MPI_Type_free(&packed);
}

TEST_P(Accumulates, combine_elements_of_derived_types) {
  MPI_Datatype every_other = MPI_DATATYPE_NULL;
  MPI_Type_vector(5, 1, 2, MPI_INT, &every_other);
  MPI_Type_commit(&every_other);
  WindowOf<int> window(kind_of_rank(mixed), 10, 3);
  Elements<int> origin(GetParam(), 5, 2);
  const int target = (rank() + 1) % ranks();
  MPI_Win_fence(0, window.get());
  ASSERT_EQ(MPI_Accumulate(origin.data(), 5, MPI_INT, target, 0, 1, every_other, MPI_PROD, window.get()),
            MPI_SUCCESS);
  MPI_Win_fence(0, window.get());
  EXPECT_EQ(window.elements().get(), (std::vector<int>{6, 3, 6, 3, 6, 3, 6, 3, 6, 3}));
  MPI_Type_free(&every_other);
}

TEST_P(Accumulates, are_complete_with_their_requests) {
  WindowOf<int> window(kind_of_rank(mixed), 1, 0);
  Elements<int> origin(GetParam(), 1, 1);
  Elements<int> before(GetParam(), 1, -1);
  MPI_Win_lock_all(0, window.get());
  std::array<MPI_Request, 2> requests{};
  MPI_Raccumulate(origin.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window.get(), requests.data());
  MPI_Rget_accumulate(origin.data(), 1, MPI_INT, before.data(), 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM,
                      window.get(), &requests[1]);
  MPI_Waitall(2, requests.data(), MPI_STATUSES_IGNORE);
  EXPECT_GE(before[0], 1);
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    EXPECT_EQ(window.elements()[0], 2 * ranks());
  }
}

std::string name_of_origin(const testing::TestParamInfo<MemoryKind>& info) {
  return test_support::name_of(info.param);
}
INSTANTIATE_TEST_SUITE_P(Origins, Accumulates, testing::ValuesIn(origins), name_of_origin);

TEST(AccumulatesOfThreads, lose_nothing) {
  if (programs::thread_level_asked_for != MPI_THREAD_MULTIPLE) GTEST_SKIP();
  WindowOf<int> window(MemoryKind::device, 1, 0);
  constexpr int rounds = 50;
  MPI_Win_lock_all(0, window.get());
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 2; ++thread) {
    threads.emplace_back([&] {
      const int one = 1;
      int got = 0;
      for (int round = 0; round < rounds; ++round) {
        MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, window.get());
        MPI_Get(&got, 1, MPI_INT, 0, 0, 1, MPI_INT, window.get());
        MPI_Win_flush(0, window.get());
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  MPI_Win_unlock_all(window.get());
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank() == 0) {
    EXPECT_EQ(window.elements()[0], 2 * rounds * ranks());
  }
}

}  // namespace
}  // namespace penstock::windows
