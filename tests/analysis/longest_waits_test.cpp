// The longest single waits, and the axis on which they lie. Times are ns.
#include "analysis/figures/longest_waits.hpp"

#include <gtest/gtest.h>

#include <cstdio>

#include "analysis/joining/job_axis.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

LongWait wait(std::int32_t rank, std::uint64_t begin, std::uint64_t end) {
  return {rank, {begin, end}, end - begin, Cause::wire, -1, 0, 0};
}

TEST(LongestWaits, come_longest_first_and_no_more_than_asked_for) {
  LongestWaits waits(2);
  waits.add(wait(0, 0, 10));
  waits.add(wait(0, 20, 50));
  waits.add(wait(0, 60, 80));
  waits.add(wait(0, 90, 95));
  const std::vector<LongWait> kept = waits.take();
  ASSERT_EQ(kept.size(), 2u);
  EXPECT_EQ(kept[0].when, (Interval{20, 50}));
  EXPECT_EQ(kept[1].when, (Interval{60, 80}));
}

TEST(LongestWaits, of_several_ranks_at_one_moment_are_one_whatever_their_order) {
  for (const bool longest_first : {true, false}) {
    LongestWaits waits(5);
    for (const std::int32_t i : {0, 1, 2}) {
      const std::int32_t rank = longest_first ? i : 2 - i;
      waits.add(wait(rank, 10 + static_cast<std::uint64_t>(rank), 50));
    }
    const std::vector<LongWait> kept = waits.take();
    ASSERT_EQ(kept.size(), 1u);
    EXPECT_EQ(kept[0].rank, 0);
    EXPECT_EQ(kept[0].other_ranks, 2u);
  }
}

TEST(LongestWaits, of_a_job_lie_where_they_were_since_it_began) {
  const TemporaryDirectory directory;
  const auto rank = [](std::int32_t which, std::uint64_t begin) {
    return RecordingBuilder(which, 2).runs(40, 1000).kernel(40, 60).call(
        {.function = "MPI_Barrier", .begin = begin, .end = 640, .call_site = 0x40, .collective_ordinal = 1});
  };
  rank(0, 140).write(directory.path());
  rank(1, 600).write(directory.path());
  const Report report = analyse(directory.path(), {.whole_run = true});
  ASSERT_EQ(report.longest_waits.size(), 2u);
  const LongWaitFigures& longest = report.longest_waits[0];
  EXPECT_EQ(longest.rank, 0);
  EXPECT_EQ(longest.begin_ns, 100u);
  EXPECT_EQ(longest.length_ns, 460u);
  EXPECT_EQ(longest.counted_ns, 460u);
  EXPECT_EQ(longest.cause, Cause::collective_wait);
  EXPECT_EQ(longest.counterpart, 1);
  EXPECT_EQ(longest.at, "MPI_Barrier at 0x40");
}

/// Two hosts whose clocks are 5,000 apart, and that exchange messages both ways.
TEST(JobAxis, puts_ranks_of_several_hosts_beside_each_other) {
  const TemporaryDirectory directory;
  MessageIndex index;
  std::vector<RankTrace> ranks;
  constexpr std::uint64_t ahead = 5000;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    const std::uint64_t offset = rank == 0 ? 0 : ahead;
    RecordingBuilder builder(rank, 2);
    std::snprintf(builder.header().host_name, sizeof builder.header().host_name, "node%d", rank);
    for (std::uint64_t i = 0; i < 20; ++i) {
      const bool sends = (i % 2 == 0) == (rank == 0);
      const std::uint64_t at = offset + 1000 + i * 1000;
      builder.half({.direction = sends ? trace::Direction::send : trace::Direction::receive,
                    .peer = 1 - rank,
                    .post = sends ? at : at - 500,
                    .complete = sends ? at + 50 : at + 100,
                    .key = i + 1});
    }
    ranks.push_back(load_rank(builder.runs(offset + 100, offset + 30'000).write(directory.path())));
    index.add(ranks.back());
  }
  index.join();
  const JobAxis axis(index);
  for (const RankTrace& rank : ranks) {
    const std::uint32_t host = index.host_of(rank);
    const auto since_begin = static_cast<double>(axis.of(host).at(rank.begin_ns + 10'000));
    EXPECT_NEAR(since_begin, 10'000.0, 200.0) << "within what the messages tell of the clocks";
  }
  EXPECT_NEAR(static_cast<double>(axis.length_ns()), 29'900.0, 400.0);
}

TEST(JobAxis, of_one_host_keeps_times_as_they_are_and_nothing_lies_beside_it) {
  const TemporaryDirectory directory;
  MessageIndex index;
  const RankTrace rank =
      load_rank(RecordingBuilder(0, 1).runs(100, 1'000'000'000'100).write(directory.path()));
  index.add(rank);
  index.join();
  const JobAxis axis(index);
  EXPECT_EQ(axis.of(0).at(rank.begin_ns + 123'456'789'012), 123'456'789'012u);
  EXPECT_EQ(axis.of(0).at(rank.begin_ns - 50), 0u);
  EXPECT_EQ(axis.of(0).at(rank.end_ns + 50), 1'000'000'000'000u);
  EXPECT_EQ(axis.length_ns(), 1'000'000'000'000u);
}

}  // namespace
}  // namespace penstock::analysis
