// The replay's knowledge of calls that have waited for a member of a window. Times are ns from the origin.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::origin_ns;
using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using testing::whole_report_on;

constexpr std::uint32_t window_id = 1u << 31;

RecordingBuilder rank_of_two(std::int32_t rank) {
  return RecordingBuilder(rank, 2).window(window_id);
}

/// Returns when its peer has let the first call of rank 0 go on; nullopt if it has waited for nobody.
std::optional<std::uint64_t> let_go_on(const RecordingBuilder& waits, const RecordingBuilder& other) {
  const TemporaryDirectory directory;
  MessageIndex index;
  std::vector<RankTrace> ranks;
  for (const RecordingBuilder& each : {waits, other}) {
    ranks.push_back(load_rank(each.write(directory.path())));
    index.add(ranks.back());
  }
  index.join();
  CauseFinder finder(ranks[0], 0, index);
  const std::span<const AwaitedMoment> found = finder.waits_of(0);
  if (found.empty()) {
    return std::nullopt;
  }
  EXPECT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].rank, 1);
  EXPECT_FALSE(found[0].of_gpu);
  EXPECT_FALSE(found[0].is_progress);
  return found[0].time_ns - origin_ns;
}

RecordingBuilder starts(std::int32_t peer, std::uint32_t window = window_id) {
  return rank_of_two(0).call(
      {.function = "MPI_Win_start", .begin = 100, .end = 500, .peer = peer, .communicator = window});
}

RecordingBuilder posts(std::uint64_t begin, std::uint64_t end) {
  return rank_of_two(1).call(
      {.function = "MPI_Win_post", .begin = begin, .end = end, .waits = 0, .communicator = window_id});
}

TEST(WindowWaits, end_behind_the_call_that_let_them_go_on) {
  EXPECT_EQ(let_go_on(starts(1), posts(450, 490)), 490u);
}

TEST(WindowWaits, that_end_within_that_call_end_behind_its_begin) {
  EXPECT_EQ(let_go_on(starts(1), posts(450, 510)), 450u);
}

TEST(WindowWaits, end_behind_the_last_call_that_may_have_let_them_go_on) {
  EXPECT_EQ(
      let_go_on(
          starts(1),
          posts(200, 210).call(
              {.function = "MPI_Win_post", .begin = 480, .end = 485, .waits = 0, .communicator = window_id})),
      485u);
}

/// Recordings older than that these calls have their window, and those that lack records.
TEST(WindowWaits, whose_peers_call_is_not_recorded_end_behind_what_it_did_until_then) {
  EXPECT_EQ(let_go_on(starts(1), rank_of_two(1)), 500u);
  EXPECT_EQ(let_go_on(starts(1), posts(510, 520)), 500u);
  EXPECT_EQ(let_go_on(starts(1), posts(50, 60)), 500u);
}

TEST(WindowWaits, for_members_that_are_not_known_wait_for_nobody) {
  EXPECT_EQ(let_go_on(starts(-1), posts(450, 490)), std::nullopt);
  EXPECT_EQ(let_go_on(starts(1, 0), posts(450, 490)), std::nullopt);
}

/// Another thread of the same rank may hold the lock.
TEST(WindowWaits, for_the_rank_itself_wait_for_nobody) {
  EXPECT_EQ(let_go_on(starts(0), posts(450, 490)), std::nullopt);
}

TEST(WindowWaits, of_each_kind_are_ended_by_a_call_of_that_kind) {
  struct Pair {
    const char* waits;
    const char* acts;
  };
  for (const auto& [waits, acts] : {Pair{"MPI_Win_start", "MPI_Win_post"},
                                    {"MPI_Win_wait", "MPI_Win_complete"},
                                    {"MPI_Win_lock", "MPI_Win_unlock"},
                                    {"MPI_Win_lock_all", "MPI_Win_unlock"},
                                    {"MPI_Win_lock", "MPI_Win_unlock_all"}}) {
    RecordingBuilder other = rank_of_two(1);
    for (const char* each : {acts, "MPI_Win_flush", "MPI_Put"}) {
      const std::uint64_t begin = each == acts ? 300 : 400;
      other.call({.function = each, .begin = begin, .end = begin + 20, .communicator = window_id});
    }
    EXPECT_EQ(
        let_go_on(rank_of_two(0).call(
                      {.function = waits, .begin = 100, .end = 500, .peer = 1, .communicator = window_id}),
                  other),
        320u)
        << waits << " for " << acts;
  }
}

/// Rank 0 waits ten times for rank 1, which computes before it opens its window.
TEST(WindowWaits, are_advised_with_the_host_code_of_the_rank_that_is_late) {
  constexpr std::uint64_t step = 30'000'000;
  RecordingBuilder waits = rank_of_two(0);
  RecordingBuilder late = rank_of_two(1);
  std::uint32_t ordinal = 0;
  for (std::uint64_t begin = 0; begin < 10 * step; begin += step) {
    for (RecordingBuilder* each : {&waits, &late}) {
      each->kernel(begin, begin + 5'000'000);
    }
    const std::uint64_t opens = begin + 25'000'000;
    waits.call({.function = "MPI_Win_start",
                .begin = begin + 5'000'000,
                .end = opens + 2'000,
                .call_site = 0x10,
                .peer = 1,
                .communicator = window_id});
    late.call({.function = "MPI_Win_post",
               .begin = opens,
               .end = opens + 1'000,
               .call_site = 0x20,
               .waits = 0,
               .communicator = window_id});
    ++ordinal;
    for (RecordingBuilder* each : {&waits, &late}) {
      each->call({.function = "MPI_Barrier",
                  .begin = opens + 2'000,
                  .end = begin + step,
                  .call_site = 0x30,
                  .collective_ordinal = ordinal});
    }
  }
  const Report report = whole_report_on({waits.runs(0, 10 * step), late.runs(0, 10 * step)});
  ASSERT_TRUE(report.replay);
  EXPECT_EQ(report.replay->replayed_ns, report.replay->observed_ns);
  EXPECT_EQ(report.replay->edges_left_out, 0u);
  ASSERT_FALSE(report.advice.empty());
  const Advice& first = report.advice.front();
  EXPECT_EQ(first.kind, AdviceKind::host_code) << first.text;
  EXPECT_NE(first.text.find("ank 1"), std::string::npos) << first.text;
  EXPECT_NEAR(static_cast<double>(first.saves_ns), 2 * 10 * 20e6, 1e6) << first.text;
}

/// Rank 1 computes in three places, each for as long, so that none explains most of it; and it comes to a
/// barrier a little later than rank 0.
TEST(WindowWaits, are_told_of_a_rank_that_is_late_there_and_hardly_at_a_collective) {
  RecordingBuilder waits = rank_of_two(0);
  RecordingBuilder late = rank_of_two(1);
  constexpr std::uint64_t away = 20'000'000;
  const auto on_window = [](RecordingBuilder& rank, const char* function, std::uint64_t begin,
                            std::uint64_t end, std::int32_t peer = -1) {
    rank.call({.function = function,
               .begin = begin,
               .end = end,
               .call_site = 0x10,
               .peer = peer,
               .communicator = window_id});
  };
  waits.kernel(0, 1'000);
  late.kernel(0, 1'000);
  on_window(waits, "MPI_Win_start", 1'000, away + 2'000, 1);
  on_window(waits, "MPI_Win_wait", away + 3'000, 2 * away + 4'000, 1);
  on_window(waits, "MPI_Win_lock", 2 * away + 5'000, 3 * away + 5'000, 1);
  on_window(late, "MPI_Win_post", away, away + 1'000);
  on_window(late, "MPI_Win_start", away + 1'000, away + 2'000);
  on_window(late, "MPI_Win_complete", 2 * away + 2'000, 2 * away + 3'000);
  on_window(late, "MPI_Win_unlock", 3 * away + 3'000, 3 * away + 4'000);
  for (RecordingBuilder* each : {&waits, &late}) {
    each->call({.function = "MPI_Barrier",
                .begin = 3 * away + (each == &waits ? 6'000 : 10'000),
                .end = 3 * away + 11'000,
                .call_site = 0x20,
                .collective_ordinal = 1});
  }
  const Report report = whole_report_on({waits.runs(0, 3 * away + 11'000), late.runs(0, 3 * away + 11'000)});
  const auto found = std::find_if(report.advice.begin(), report.advice.end(),
                                  [](const Advice& each) { return each.kind == AdviceKind::balance_ranks; });
  ASSERT_NE(found, report.advice.end());
  EXPECT_EQ(found->text.substr(0, 23), "Others wait for rank 1:") << found->text;
  EXPECT_NE(found->text.find("open, complete or unlock a window"), std::string::npos) << found->text;
}

}  // namespace
}  // namespace penstock::analysis
