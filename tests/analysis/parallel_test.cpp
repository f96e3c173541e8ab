// Work by several threads, whose outcome must not show how many they were.
#include "analysis/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <vector>

#include "analysis/analyse.hpp"
#include "analysis/report_json.hpp"
#include "tests/analysis/known_job.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::KnownJob;
using testing::RecordingBuilder;
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

/// Hosts of other clocks, steps found by a call site, a rank that is missing, halves that nobody answers.
void write_uneven_job(const TemporaryDirectory& directory) {
  for (const std::int32_t rank : {0, 1, 2, 4, 5}) {
    RecordingBuilder builder(rank, 6);
    std::snprintf(builder.header().host_name, sizeof builder.header().host_name, "node%d", rank / 2);
    const auto offset = static_cast<std::uint64_t>(rank / 2) * 70'000;
    builder.runs(offset, offset + 50'000);
    for (std::uint64_t step = 0; step < 20; ++step) {
      const std::uint64_t at = offset + 1000 + step * 2000;
      const std::int32_t to = (rank + 1) % 6;
      const std::int32_t from = (rank + 5) % 6;
      const auto late = static_cast<std::uint64_t>(rank * 7 + static_cast<int>(step) % 3);
      builder.kernel(at, at + 300, rank % 2 == 0 ? "_Z4evenv" : "_Z3oddv")
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
                 .call_site = 0x30,
                 .collective_ordinal = static_cast<std::uint32_t>(step + 1)});
    }
    builder.notice(rank < 3 ? "a feature is off" : "another one is").write(directory.path());
  }
}

TEST(ReportBySeveralThreads, is_the_same_byte_for_byte) {
  const TemporaryDirectory known;
  const KnownJob job(12, 800);
  for (std::int32_t rank = 0; rank < job.ranks(); ++rank) {
    job.write(rank, known.path());
  }
  const TemporaryDirectory uneven;
  write_uneven_job(uneven);
  for (const TemporaryDirectory* directory : {&known, &uneven}) {
    const std::string of_one = to_json(analyse(directory->path()));
    for (const unsigned threads : {0u, 2u, 3u, 16u}) {
      EXPECT_EQ(to_json(analyse(directory->path(), {.threads = threads})), of_one) << threads;
    }
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
