// A job on two hosts whose clocks differ and drift: the report is the one that it would be on one host, to
// the clocks' error. Times are ns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <numeric>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

using testing::ms;
constexpr std::uint64_t steps = 400;

/// How far the second rank's clock is ahead of the first one's.
struct Skew {
  double offset_ns = 0;
  double drift = 0;
  [[nodiscard]] std::uint64_t operator()(std::uint64_t true_ns) const {
    return static_cast<std::uint64_t>(std::llround(static_cast<double>(true_ns) * (1 + drift) + offset_ns));
  }
};

/// Each step of 10 ms: rank 1 sends late to rank 0 and then, at once, rank 0 to rank 1; a barrier to which
/// rank 0 comes late. The times that messages take are all that the clocks can be brought together by.
struct Job {
  std::uint64_t late = 3 * ms;
  std::uint64_t late_at_barrier = 2 * ms;
  std::uint64_t to_first = 20'000;
  std::uint64_t to_second = 20'000;
};

void write_job(const std::filesystem::path& directory, const char* second_host, Skew skew, const Job& job) {
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
  constexpr std::uint64_t barrier_takes = 40'000;
  for (std::uint64_t step = 0; step < steps; ++step) {
    const std::uint64_t t = 100 * ms + step * 10 * ms;
    recv(first, 1, t, t + job.late + job.to_first);
    send(second, 0, skew(t + job.late), skew(t + job.late + 1'000));
    send(first, 1, t + 4 * ms, t + 4 * ms + 1'000);
    recv(second, 0, skew(t + 4 * ms), skew(t + 4 * ms + job.to_second));
    barrier(first, t + 7 * ms, t + 7 * ms + barrier_takes, step);
    barrier(second, skew(t + 7 * ms - job.late_at_barrier), skew(t + 7 * ms + barrier_takes), step);
  }
  const std::uint64_t end = 100 * ms + steps * 10 * ms + 50 * ms;
  first.kernel(1, 2).runs(0, end).write(directory);
  second.kernel(skew(1), skew(2)).runs(skew(0), skew(end)).write(directory);
}

Report report_on(const char* second_host, Skew skew = {}, const Job& job = {}) {
  const TemporaryDirectory directory;
  write_job(directory.path(), second_host, skew, job);
  return analyse(directory.path(), {.whole_run = true});
}

double ms_of(const Report& report, Cause cause) {
  return static_cast<double>(report.by_cause[static_cast<std::size_t>(cause)]) * 1e-6;
}

constexpr Skew skews[] = {Skew{0, 0}, Skew{5e9, 0}, Skew{-3e11, 40e-6}, Skew{7e13, -100e-6}};

bool is_marked(const Report& report, Cause cause) {
  const auto i = static_cast<std::size_t>(cause);
  return is_within_error(report.by_cause[i], report.within_error[i]);
}

std::string line_of(const std::string& text, const std::string& begin) {
  const std::size_t found = text.find("\n" + begin);
  return found == std::string::npos ? "" : text.substr(found + 1, text.find('\n', found + 1) - found - 1);
}

TEST(TwoHosts, with_one_clock_show_what_was_built) {
  const Report report = report_on("node01");
  EXPECT_TRUE(report.one_clock);
  EXPECT_NEAR(ms_of(report, Cause::late_sender), steps * 3.0, 0.1);
  EXPECT_NEAR(ms_of(report, Cause::collective_wait), steps * 2.0, 0.1);
}

TEST(TwoHosts, waits_are_explained_across_clocks_that_differ_and_drift) {
  const Report one = report_on("node01");
  for (const Skew skew : skews) {
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

TEST(TwoHosts, waits_longer_than_the_clocks_error_bear_no_mark) {
  for (const Skew skew : skews) {
    const Report report = report_on("node02", skew);
    EXPECT_FALSE(is_marked(report, Cause::late_sender));
    EXPECT_FALSE(is_marked(report, Cause::collective_wait));
    EXPECT_FALSE(is_within_error(report.late_ranks[0].late_ns, report.late_ranks[0].within_error_ns));
    const std::string text = to_text(report, {});
    EXPECT_NE(line_of(text, "  late sender"), "");
    EXPECT_EQ(line_of(text, "  late sender").find("‡"), std::string::npos) << text;
    EXPECT_FALSE(report.advice.empty());
  }
}

TEST(TwoHosts, waits_shorter_than_the_clocks_error_are_marked_and_no_ground_for_advice) {
  const Job job{.late = 15'000, .late_at_barrier = 15'000};
  for (const Skew skew : skews) {
    const Report report = report_on("node02", skew, job);
    EXPECT_GE(report.host_clock_error_ns, 15'000u);
    ASSERT_GT(ms_of(report, Cause::late_sender), 0.0);
    EXPECT_TRUE(is_marked(report, Cause::late_sender));
    EXPECT_TRUE(is_marked(report, Cause::collective_wait));
    for (const LateRankFigures& late : report.late_ranks) {
      EXPECT_EQ(late.within_error_ns, late.late_ns);  // who came last is not known either
    }
    for (const LongWaitFigures& wait : report.longest_waits) {
      EXPECT_TRUE(wait.cause == Cause::wire || is_within_error(wait.counted_ns, wait.within_error_ns));
    }
    const std::string text = to_text(report, {.all = true});
    EXPECT_NE(line_of(text, "  late sender").find("‡"), std::string::npos) << text;
    EXPECT_NE(line_of(text, "‡ half of it"), "") << text;
    EXPECT_TRUE(std::none_of(report.advice.begin(), report.advice.end(),
                             [](const Advice& advice) { return advice.kind == AdviceKind::balance_ranks; }));
    const nlohmann::json json = nlohmann::json::parse(to_json(report));
    const nlohmann::json& counted = json.at("counted");
    EXPECT_GT(counted.at("within_clock_error_s").at("late_sender").get<double>(),
              0.5 * counted.at("by_cause_s").at("late_sender").get<double>());
    EXPECT_TRUE(json.at("call_sites").at(0).at("within_clock_error_s").is_object());
  }
}

/// Messages that take longer one way than the other put the clocks wrong by half of the difference, and
/// nobody can tell. Of all figures, what is certain is true, and what is true is not out of reach.
TEST(TwoHosts, the_truth_lies_within_what_is_said_to_be_uncertain) {
  for (const std::uint64_t late : {0u, 4'000u, 15'000u, 28'000u, 45'000u, 300'000u}) {
    for (const auto& [to_first, to_second] : {std::pair{20'000, 20'000}, {5'000, 35'000}, {35'000, 5'000}}) {
      const Job job{late, late, static_cast<std::uint64_t>(to_first), static_cast<std::uint64_t>(to_second)};
      const Report truth = report_on("node01", {}, job);
      EXPECT_EQ(truth.within_error, TimeByCause{});
      for (const Skew skew : skews) {
        const Report report = report_on("node02", skew, job);
        const double drifted = static_cast<double>(report.counted_ns) * std::abs(skew.drift) + 8.0 * steps;
        EXPECT_NEAR(static_cast<double>(report.counted_ns), static_cast<double>(truth.counted_ns), drifted);
        const auto all = static_cast<double>(
            std::accumulate(report.within_error.begin(), report.within_error.end(), std::uint64_t{0}));
        for (std::size_t i = 0; i < cause_count; ++i) {
          const auto figure = static_cast<double>(report.by_cause[i]);
          const auto within = static_cast<double>(report.within_error[i]);
          const auto true_figure = static_cast<double>(truth.by_cause[i]);
          EXPECT_LE(figure - within, true_figure + drifted) << name_of(static_cast<Cause>(i)) << ' ' << late;
          EXPECT_LE(true_figure, figure + all - within + drifted)
              << name_of(static_cast<Cause>(i)) << ' ' << late;
        }
      }
    }
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
