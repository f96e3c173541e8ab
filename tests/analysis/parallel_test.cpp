// Work by several threads, whose outcome must not show how many they were.
#include "analysis/sharing/parallel.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/sharing/archive.hpp"
#include "tests/analysis/known_job.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/thread_team.hpp"

namespace penstock::analysis {
namespace {

using testing::KnownJob;
using testing::RecordingBuilder;
using testing::reports_of_team;
using testing::TemporaryDirectory;

class Parallel : public ::testing::TestWithParam<unsigned> {};
INSTANTIATE_TEST_SUITE_P(Threads, Parallel, ::testing::Values(1u, 2u, 7u),
                         ::testing::PrintToStringParamName());

TEST_P(Parallel, each_item_is_worked_on_once_by_workers_below_the_number_of_threads) {
  std::vector<std::atomic<int>> times(100);
  for_each(times.size(), GetParam(), [&](std::size_t i, unsigned worker) {
    EXPECT_LT(worker, GetParam());
    ++times[i];
  });
  for (const std::atomic<int>& each : times) {
    EXPECT_EQ(each.load(), 1);
  }
}

TEST_P(Parallel, items_are_merged_in_their_order_by_the_worker_that_has_them) {
  std::vector<std::size_t> of_worker(GetParam());
  std::vector<std::size_t> merged;
  for_each_in_order(
      50, GetParam(),
      [&](std::size_t i, unsigned worker) {
        if (i % 3 == 0) {
          std::this_thread::yield();
        }
        of_worker[worker] = i;
      },
      [&](std::size_t i, unsigned worker) {
        EXPECT_EQ(of_worker[worker], i);
        merged.push_back(i);
      });
  std::vector<std::size_t> in_order(50);
  std::iota(in_order.begin(), in_order.end(), std::size_t{0});
  EXPECT_EQ(merged, in_order);
}

TEST_P(Parallel, the_error_of_the_lowest_item_is_thrown_and_what_comes_before_it_is_merged) {
  std::vector<std::size_t> merged;
  try {
    for_each_in_order(
        40, GetParam(),
        [](std::size_t i, unsigned) {
          if (i >= 10) {
            throw std::runtime_error(std::to_string(i));
          }
        },
        [&](std::size_t i, unsigned) { merged.push_back(i); });
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "10");
  }
  EXPECT_EQ(merged.size(), 10u);
}

TEST_P(Parallel, nothing_is_done_for_no_items) {
  for_each_in_order(
      0, GetParam(), [](std::size_t, unsigned) { FAIL(); }, [](std::size_t, unsigned) { FAIL(); });
}

/// Hosts of other clocks, steps found by a call site, a rank that is missing, halves that nobody answers,
/// ranks of which two threads communicate.
void write_uneven_job(const TemporaryDirectory& directory) {
  for (const std::int32_t rank : {0, 1, 2, 4, 5}) {
    RecordingBuilder builder(rank, 6);
    std::snprintf(builder.header().host_name, sizeof builder.header().host_name, "node%d", rank / 2);
    const auto offset = static_cast<std::uint64_t>(rank / 2) * 70'000;
    builder.runs(offset, offset + 50'000);
    const std::uint64_t barrier = builder.path({0x30, 0x1000, rank < 3 ? 0x2000u : 0x3000u});
    // a communicator of the ranks that are there
    builder.nccl_call({.function = "ncclCommInitRank",
                       .begin = offset,
                       .end = offset + 10,
                       .ranks = 5,
                       .rank = rank < 3 ? rank : rank - 1});
    for (std::uint64_t step = 0; step < 20; ++step) {
      const std::uint64_t at = offset + 1000 + step * 2000;
      const std::int32_t to = (rank + 1) % 6;
      const std::int32_t from = (rank + 5) % 6;
      const auto late = static_cast<std::uint64_t>(rank * 7 + static_cast<int>(step) % 3);
      builder
          .nccl_call({.function = "ncclAllReduce",
                      .begin = at + 50,
                      .end = at + 60,
                      .bytes = 64,
                      .ordinal = static_cast<std::uint32_t>(step + 1)})
          .launched_kernel(at + 55, at + 310 + late, at + 390, "ncclDevKernel_AllReduce_Sum_f32_RING_LL")
          .kernel(at, at + 300, rank % 2 == 0 ? "_Z4evenv" : "_Z3oddv")
          .half({.direction = trace::Direction::send, .peer = to, .post = at + 400, .complete = at + 450})
          .half(
              {.direction = trace::Direction::receive, .peer = from, .post = at + 400, .complete = at + 500})
          .call({.function = "MPI_Sendrecv",
                 .begin = at + 400,
                 .end = at + 500,
                 .bytes = 16,
                 .call_site = rank < 3 ? 0x10u : 0x20u})
          .call({.function = "MPI_Barrier",
                 .begin = at + 600 + late,
                 .end = at + 700,
                 .call_site = barrier,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
      if (rank % 2 == 1) {
        builder.on_lane(1)
            .range("of one thread", at + 350, at + 450)
            .call({.function = "MPI_Recv", .begin = at + 200 + late, .end = at + 420, .call_site = 0x40})
            .on_lane(0);
      }
    }
    builder.notice(rank < 3 ? "a feature is off" : "another one is").write(directory.path());
  }
}

/// Ranks in pairs on two hosts, whose clocks their messages of 20 µs bring together to about as much: rank 2n
/// waits 15 µs for what rank 2n + 1 sends, and that for rank 2n at a barrier, which is within that error.
/// Rank 2n + 1 runs a kernel before it receives what had been sent before the kernel.
void write_job_on_two_hosts(const TemporaryDirectory& directory) {
  constexpr std::uint64_t us = 1'000;
  constexpr std::uint64_t steps = 100;
  constexpr std::uint64_t ahead = 5'000'000 * us;
  const auto receive = [](RecordingBuilder& rank, std::int32_t peer, std::uint64_t begin, std::uint64_t end) {
    rank.half({.direction = trace::Direction::receive,
               .peer = peer,
               .post = begin,
               .complete = end,
               .bytes = 64})
        .call({.function = "MPI_Recv", .begin = begin, .end = end, .bytes = 64, .call_site = 0x10});
  };
  const auto send = [](RecordingBuilder& rank, std::int32_t peer, std::uint64_t begin) {
    const std::uint64_t end = begin + 1 * us;
    rank.half(
            {.direction = trace::Direction::send, .peer = peer, .post = begin, .complete = end, .bytes = 64})
        .call({.function = "MPI_Send", .begin = begin, .end = end, .bytes = 64, .call_site = 0x20});
  };
  for (std::int32_t rank = 0; rank < 6; ++rank) {
    const bool is_second = rank % 2 == 1;
    const std::uint64_t offset = is_second ? ahead : 0;
    RecordingBuilder builder(rank, 6);
    std::snprintf(builder.header().host_name, sizeof builder.header().host_name, "node%d", rank % 2);
    builder.header().realtime_offset_ns -= offset;
    builder.kernel(offset + 1, offset + 2).runs(offset, offset + (steps + 2) * 10'000 * us);
    for (std::uint64_t step = 0; step < steps; ++step) {
      const std::uint64_t at = offset + (step + 1) * 10'000 * us;
      if (is_second) {
        send(builder, rank - 1, at + 15 * us);
        receive(builder, rank - 1, at + 4'000 * us, at + 4'020 * us);
        builder.kernel(at + 5'000 * us, at + 6'000 * us, "_Z6updatev");
        receive(builder, rank - 1, at + 6'100 * us, at + 6'125 * us);
      } else {
        receive(builder, rank + 1, at, at + 35 * us);
        send(builder, rank + 1, at + 4'000 * us);
        send(builder, rank + 1, at + 4'500 * us);
      }
      builder.call({.function = "MPI_Barrier",
                    .begin = at + (is_second ? 7'000 * us : 7'015 * us),
                    .end = at + 7'055 * us,
                    .call_site = 0x30,
                    .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
    }
    builder.write(directory.path());
  }
}

std::uint64_t sum_of(const TimeByCause& times) {
  return std::accumulate(times.begin(), times.end(), std::uint64_t{0});
}

template <typename Figures>
std::uint64_t within_error_of(const std::vector<Figures>& list) {
  std::uint64_t sum = 0;
  for (const Figures& each : list) {
    sum += sum_of(each.within_error);
  }
  return sum;
}

template <typename Figures>
bool any_is_within_error(const std::vector<Figures>& list, std::uint64_t Figures::*within_error_ns) {
  return std::any_of(list.begin(), list.end(),
                     [=](const Figures& each) { return each.*within_error_ns != 0; });
}

/// Of a job on two hosts: every figure has its part that lies within the clocks' error.
void expect_marks_and_late_receives(const Report& report) {
  const std::uint64_t within_error_ns = sum_of(report.within_error);
  EXPECT_TRUE(is_within_error(report.by_cause[static_cast<std::size_t>(Cause::late_sender)],
                              report.within_error[static_cast<std::size_t>(Cause::late_sender)]));
  EXPECT_EQ(within_error_of(report.ranks), within_error_ns);
  EXPECT_EQ(within_error_of(report.call_sites), within_error_ns);
  EXPECT_EQ(within_error_of(report.peers), within_error_ns);
  EXPECT_EQ(within_error_of(report.communicators), within_error_ns);
  EXPECT_EQ(within_error_of(report.functions), within_error_ns);
  EXPECT_NE(within_error_of(report.transports), 0u);
  EXPECT_TRUE(any_is_within_error(report.collectives, &CollectiveFigures::waiting_within_error_ns));
  EXPECT_TRUE(any_is_within_error(report.late_ranks, &LateRankFigures::within_error_ns));
  EXPECT_TRUE(any_is_within_error(report.longest_waits, &LongWaitFigures::within_error_ns));
  ASSERT_EQ(report.late_receives.size(), 1u);
  EXPECT_EQ(report.late_receives[0].messages, 300u);
  EXPECT_NE(report.late_receives[0].hides_ns, 0u);
  EXPECT_EQ(report.late_receives[0].kernel, "update");
}

TEST(ReportBySeveralThreads, has_what_lies_within_the_error_of_clocks_and_the_late_receives) {
  const TemporaryDirectory directory;
  write_job_on_two_hosts(directory);
  const Report of_one = analyse(directory.path(), {.whole_run = true});
  const Report of_two = analyse(directory.path(), {.whole_run = true, .threads = 2});
  expect_marks_and_late_receives(of_one);
  expect_marks_and_late_receives(of_two);
  const std::string json = to_json(of_one);
  EXPECT_NE(json.find("\"within_clock_error_s\""), std::string::npos);
  EXPECT_NE(json.find("\"late_receives\""), std::string::npos);
  EXPECT_TRUE(to_json(of_two) == json);
}

/// One of known answers, an uneven one, and one on two hosts.
std::vector<std::unique_ptr<TemporaryDirectory>> jobs() {
  std::vector<std::unique_ptr<TemporaryDirectory>> all(3);
  for (auto& directory : all) directory = std::make_unique<TemporaryDirectory>();
  const KnownJob known(12, 800);
  for (std::int32_t rank = 0; rank < known.ranks(); ++rank) {
    known.write(rank, all[0]->path());
  }
  write_uneven_job(*all[1]);
  write_job_on_two_hosts(*all[2]);
  return all;
}

TEST(ReportBySeveralThreads, has_rows_of_threads) {
  const TemporaryDirectory directory;
  write_uneven_job(directory);
  for (const RankFigures& rank : analyse(directory.path()).ranks) {
    EXPECT_EQ(rank.threads.size(), rank.rank % 2 == 1 ? 2u : 0u) << rank.rank;
  }
}

TEST(ReportBySeveralThreads, is_the_same_byte_for_byte) {
  for (const auto& directory : jobs()) {
    const Report report = analyse(directory->path());
    const std::string of_one = to_json(report);
    EXPECT_TRUE(!report.nccl || !report.nccl->late.empty());
    for (const unsigned threads : {0u, 2u, 3u, 16u}) {
      EXPECT_TRUE(to_json(analyse(directory->path(), {.threads = threads})) == of_one) << threads;
    }
  }
}

TEST(ReportBySeveralProcesses, is_the_same_byte_for_byte_and_the_first_one_has_it) {
  for (const auto& directory : jobs()) {
    const std::string of_one = to_json(analyse(directory->path()));
    for (const std::size_t members : {1u, 2u, 5u, 14u}) {  // more than ranks, too
      const std::vector<std::string> reports = reports_of_team(directory->path(), members);
      EXPECT_TRUE(reports.front() == of_one) << members;
      for (std::size_t other = 1; other < members; ++other) {
        EXPECT_EQ(reports[other], "none");
      }
    }
    const std::string of_rank = to_json(analyse(directory->path(), {.only_rank = 4}));
    EXPECT_TRUE(reports_of_team(directory->path(), 3, {.only_rank = 4, .threads = 2}).front() == of_rank);
  }
}

TEST(ReportBySeveralProcesses, ends_alike_in_all_of_them_where_there_is_nothing_to_read) {
  const TemporaryDirectory directory;
  for (const std::string& said : reports_of_team(directory.path(), 3)) {
    EXPECT_NE(said.find("no recording in it"), std::string::npos) << said;
  }
  write_uneven_job(directory);
  for (const std::string& said : reports_of_team(directory.path(), 3, {.only_rank = 3})) {
    EXPECT_NE(said.find("no recording of rank 3"), std::string::npos) << said;
  }
}

TEST(Reader, refuses_what_ends_too_early) {
  Writer writer;
  writer(std::vector<std::string>{"one", "two"}, std::uint64_t{7});
  std::vector<std::byte> bytes = writer.take();
  std::vector<std::string> texts;
  std::uint64_t number = 0;
  Reader whole(bytes);
  whole(texts, number);
  EXPECT_EQ(texts, (std::vector<std::string>{"one", "two"}));
  EXPECT_EQ(number, 7u);
  EXPECT_TRUE(whole.is_at_end());
  while (!bytes.empty()) {
    bytes.pop_back();
    Reader cut_off(bytes);
    EXPECT_THROW(cut_off(texts, number), std::runtime_error);
  }
}

TEST(ReportBySeveralThreads, of_a_file_that_is_gone_meanwhile_ends_with_the_same_error) {
  const TemporaryDirectory directory;
  const KnownJob job(4, 100);
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    job.write(rank, directory.path());
  }
  for (const unsigned threads : {1u, 4u}) {
    bool is_gone = false;
    AnalysisOptions options{.threads = threads};
    options.progress = [&](std::size_t, std::size_t, const std::string& what) {
      if (what == "counting" && !is_gone) {
        is_gone = std::filesystem::remove(directory.path() / "rank-3.penstock");
      }
    };
    EXPECT_THROW(static_cast<void>(analyse(directory.path(), options)), TraceError);
    job.write(3, directory.path());
  }
}

}  // namespace
}  // namespace penstock::analysis
