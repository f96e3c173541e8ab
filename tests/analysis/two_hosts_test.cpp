// A job on two hosts whose clocks differ and drift: the report is the one that it would be on one host, to
// the clocks' error. Times are ns.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "analysis/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

constexpr std::uint64_t ms = 1'000'000;
constexpr std::uint64_t steps = 400;

/// How far the second rank's clock is ahead of the first one's.
struct Skew {
  double offset_ns = 0;
  double drift = 0;
  [[nodiscard]] std::uint64_t operator()(std::uint64_t true_ns) const {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(true_ns) * (1 + drift) + offset_ns));
  }
};

/// Each step of 10 ms: rank 1 sends 3 ms late to rank 0 and then, at once, rank 0 to rank 1; a barrier to
/// which rank 0 comes 2 ms late. A message takes 20 µs.
void write_job(const std::filesystem::path& directory, const char* second_host, Skew skew) {
  RecordingBuilder first(0, 2);
  RecordingBuilder second(1, 2);
  std::snprintf(second.header().host_name, sizeof second.header().host_name, "%s", second_host);
  // the time of day is the same on both, or they would be taken for two jobs
  second.header().realtime_offset_ns -= static_cast<std::uint64_t>(std::llround(skew.offset_ns));
  const auto recv = [](RecordingBuilder& rank, std::int32_t peer, std::uint64_t begin, std::uint64_t end) {
    rank.half({.direction = Direction::receive, .peer = peer, .post = begin, .complete = end, .bytes = 4096})
        .call({.function = "MPI_Recv", .begin = begin, .end = end, .bytes = 4096, .call_site = 0x10});
  };
  const auto send = [](RecordingBuilder& rank, std::int32_t peer, std::uint64_t begin, std::uint64_t end) {
    rank.half({.direction = Direction::send, .peer = peer, .post = begin, .complete = end, .bytes = 4096})
        .call({.function = "MPI_Send", .begin = begin, .end = end, .bytes = 4096, .call_site = 0x20});
  };
  const auto barrier = [](RecordingBuilder& rank, std::uint64_t begin, std::uint64_t end,
                          std::uint64_t step) {
    rank.call({.function = "MPI_Barrier",
               .begin = begin,
               .end = end,
               .call_site = 0x30,
               .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
  };
  constexpr std::uint64_t wire = 20'000;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t t = 100 * ms + step * 10 * ms;
    recv(first, 1, t, t + 3 * ms + wire);
    send(second, 0, skew(t + 3 * ms), skew(t + 3 * ms + 5'000));
    send(first, 1, t + 4 * ms, t + 4 * ms + 5'000);
    recv(second, 0, skew(t + 4 * ms), skew(t + 4 * ms + wire));
    barrier(first, t + 7 * ms, t + 7 * ms + wire, step);
    barrier(second, skew(t + 5 * ms), skew(t + 7 * ms + wire), step);
  }
  const std::uint64_t end = 100 * ms + steps * 10 * ms + 50 * ms;
  first.kernel(1, 2).runs(0, end).write(directory);
  second.kernel(skew(1), skew(2)).runs(skew(0), skew(end)).write(directory);
}

Report report_on(const char* second_host, Skew skew = {}) {
  const TemporaryDirectory directory;
  write_job(directory.path(), second_host, skew);
  return analyse(directory.path(), {.whole_run = true});
}

double ms_of(const Report& report, Cause cause) {
  return static_cast<double>(report.by_cause[static_cast<std::size_t>(cause)]) * 1e-6;
}

TEST(TwoHosts, with_one_clock_show_what_was_built) {
  const Report report = report_on("node01");
  EXPECT_TRUE(report.one_clock);
  EXPECT_NEAR(ms_of(report, Cause::late_sender), steps * 3.0, 0.1);
  EXPECT_NEAR(ms_of(report, Cause::collective_wait), steps * 2.0, 0.1);
}

TEST(TwoHosts, waits_are_explained_across_clocks_that_differ_and_drift) {
  const Report one = report_on("node01");
  for (const Skew skew : {Skew{0, 0}, Skew{5e9, 0}, Skew{-3e11, 40e-6}, Skew{7e13, -100e-6}}) {
    const Report two = report_on("node02", skew);
    EXPECT_FALSE(two.one_clock);
    EXPECT_EQ(two.aligned_hosts, 2u);
    EXPECT_LE(two.host_clock_error_ns, 25'000u);  // a message's way, as nothing tells how it is shared
    const double error_ms = steps * static_cast<double>(two.host_clock_error_ns) * 1e-6;
    EXPECT_NEAR(ms_of(two, Cause::late_sender), ms_of(one, Cause::late_sender), 2 * error_ms);
    EXPECT_NEAR(ms_of(two, Cause::collective_wait), ms_of(one, Cause::collective_wait), 2 * error_ms);
    EXPECT_EQ(ms_of(two, Cause::unattributed), 0.0);
    ASSERT_FALSE(two.late_ranks.empty());
    EXPECT_EQ(two.late_ranks[0].rank, 0);
    EXPECT_EQ(two.late_ranks[0].times, steps);
  }
}

TEST(TwoHosts, that_exchange_nothing_both_ways_are_left_unexplained_and_it_is_said) {
  const TemporaryDirectory directory;
  RecordingBuilder sender(1, 2);
  std::snprintf(sender.header().host_name, sizeof sender.header().host_name, "node02");
  RecordingBuilder(0, 2)
      .kernel(0, 1)
      .half({.direction = Direction::receive, .peer = 1, .post = 100, .complete = 200, .bytes = 64})
      .call({.function = "MPI_Recv", .begin = 100, .end = 200, .bytes = 64})
      .write(directory.path());
  sender.kernel(0, 1)
      .half({.direction = Direction::send, .peer = 0, .post = 150, .complete = 160, .bytes = 64})
      .call({.function = "MPI_Send", .begin = 150, .end = 160, .bytes = 64})
      .write(directory.path());
  const Report report = analyse(directory.path());
  EXPECT_EQ(report.aligned_hosts, 1u);
  ASSERT_FALSE(report.gaps.empty());
  EXPECT_EQ(report.gaps[0].gap, Gap::no_common_clock);
}

}  // namespace
}  // namespace penstock::analysis
