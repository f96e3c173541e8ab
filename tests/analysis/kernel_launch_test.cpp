// Whether a kernel waited for the one before it or for its launch, when it is known when it was launched.
// Times are ns.
#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::total_of;
using testing::whole_report_on;

constexpr std::uint64_t kernel_ns = 10'000;
constexpr std::uint64_t launch_ns = 1'000;
constexpr std::uint32_t steps = 50;

/// Two ranks that launch a kernel, wait for it and reduce. The GPU is idle for less time than queued kernels
/// may be.
std::vector<RecordingBuilder> short_reductions(std::uint64_t reduction_ns, std::uint64_t& total_ns) {
  std::vector<RecordingBuilder> ranks;
  for (std::uint32_t number = 0; number < 2; ++number) {
    RecordingBuilder& rank = ranks.emplace_back(number, 2);
    std::uint64_t host = 0;
    for (std::uint32_t step = 0; step < steps; ++step) {
      const std::uint64_t begin = host + launch_ns;
      rank.launched_kernel(host, begin, begin + kernel_ns, "update");
      rank.cuda_synchronisation(host + launch_ns / 2, begin + kernel_ns);
      host = begin + kernel_ns + reduction_ns;
      rank.call({.function = "MPI_Allreduce",
                 .begin = host - reduction_ns,
                 .end = host,
                 .bytes = 8,
                 .call_site = 0x20,
                 .collective_ordinal = step + 1});
    }
    rank.runs(0, host);
    total_ns = host;
  }
  return ranks;
}

TEST(KernelLaunch, behind_a_short_reduction_waits_for_that) {
  std::uint64_t total_ns = 0;
  std::uint64_t free_ns = 0;
  const Report report = whole_report_on(short_reductions(3'000, total_ns));
  short_reductions(0, free_ns);
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  EXPECT_EQ(report.replay->replayed_ns, total_ns);
  EXPECT_NEAR(static_cast<double>(total_of(*report.replay, "free_communication")),
              static_cast<double>(free_ns), 3'000);
}

/// The next is launched while the one before runs, and begins a little later than that ends.
TEST(KernelLaunch, before_the_end_of_the_one_before_is_queued) {
  RecordingBuilder rank(0, 1);
  std::uint64_t gpu = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    rank.launched_kernel(step * launch_ns, gpu + 500, gpu + 500 + kernel_ns, "update");
    gpu += 500 + kernel_ns;
  }
  rank.call({.function = "MPI_Barrier", .begin = steps * launch_ns, .end = steps * launch_ns + 100});
  rank.cuda_synchronisation(steps * launch_ns + 200, gpu);
  rank.runs(0, gpu);
  const Report report = whole_report_on({rank});
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  EXPECT_EQ(report.replay->replayed_ns, gpu);
  EXPECT_NEAR(static_cast<double>(total_of(*report.replay, "free_communication")), static_cast<double>(gpu),
              200);
}

/// A rank whose kernels begin 30 µs behind each call of MPI: launched at once, or after 30 µs of host code.
bool is_host_code_advised(bool is_launched_at_once) {
  constexpr std::uint64_t idle_ns = 30'000;
  RecordingBuilder rank(0, 1);
  std::uint64_t host = 0;
  for (std::uint32_t step = 0; step < steps; ++step) {
    const std::uint64_t begin = host + idle_ns;
    rank.launched_kernel(is_launched_at_once ? host : begin - 1, begin, begin + kernel_ns, "update");
    rank.cuda_synchronisation(begin, begin + kernel_ns);
    host = begin + kernel_ns + 100;
    rank.call({.function = "MPI_Barrier", .begin = host - 100, .end = host, .call_site = 0x20});
  }
  rank.runs(0, host);
  const Report report = whole_report_on({rank});
  EXPECT_TRUE(report.replay) << report.why_no_replay;
  return std::any_of(report.advice.begin(), report.advice.end(),
                     [](const Advice& each) { return each.kind == AdviceKind::host_code; });
}

TEST(KernelLaunch, is_a_part_of_the_critical_path) {
  std::uint64_t total_ns = 0;
  const Report report = whole_report_on(short_reductions(3'000, total_ns));
  ASSERT_TRUE(report.replay) << report.why_no_replay;
  EXPECT_EQ(report.replay->path.kernels_ns, steps * kernel_ns);
  EXPECT_EQ(report.replay->path.launch_ns, steps * launch_ns);
}

TEST(KernelLaunch, is_no_host_code_that_could_be_left_out) {
  EXPECT_FALSE(is_host_code_advised(true));
  EXPECT_TRUE(is_host_code_advised(false));
}

}  // namespace
}  // namespace penstock::analysis
