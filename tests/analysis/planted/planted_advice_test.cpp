// Programs with a fault, each with its mended twin: the first advice on the one names the fault and its
// place, and how much it says to be saved is what the twin saves. Times are ns.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/advice.hpp"
#include "tests/analysis/planted/planted_job.hpp"
#include "tests/analysis/planted/planted_steps.hpp"

namespace penstock::analysis {
namespace {

using testing::PlantedJob;
using testing::TemporaryDirectory;
using namespace planted_steps;

constexpr std::size_t steps = 20;

struct Planted {
  const char* name;
  std::size_t ranks;
  std::function<void(PlantedJob&, bool)> step;  ///< of the program; true: of its mended twin
  AdviceKind kind;
  std::vector<std::string> says;
};
void PrintTo(const Planted& planted, std::ostream* out) {
  *out << planted.name;
}

struct Outcome {
  std::uint64_t total_ns;
  Report report;
};

Outcome run(const Planted& planted, bool is_mended) {
  PlantedJob job(planted.ranks);
  for (std::size_t step = 0; step < steps; ++step) {
    job.push("step");
    planted.step(job, is_mended);
    job.pop();
  }
  const std::uint64_t total_ns = job.finish();
  const TemporaryDirectory directory;
  for (const testing::RecordingBuilder& each : job.ranks()) {
    each.write(directory.path());
  }
  return {total_ns, analyse(directory.path(), {.whole_run = true})};
}

std::string all_of(const std::vector<Advice>& advice) {
  std::string text;
  for (const Advice& each : advice) {
    text += std::string(identifier_of(each.kind)) + " " + std::to_string(each.saves_ns) + " ± " +
            (each.uncertainty_ns ? std::to_string(*each.uncertainty_ns) : "?") + ": " + each.text + "\n";
  }
  return text;
}

class PlantedFault : public ::testing::TestWithParam<Planted> {};

TEST_P(PlantedFault, is_the_first_advice_with_what_its_mending_saves) {
  const Planted& planted = GetParam();
  const Outcome found = run(planted, false);
  const Outcome mended = run(planted, true);
  ASSERT_LT(mended.total_ns, found.total_ns);
  ASSERT_TRUE(found.report.replay) << found.report.why_no_replay;
  EXPECT_EQ(found.report.replay->replayed_ns, found.total_ns);
  ASSERT_FALSE(found.report.advice.empty());
  const Advice& first = found.report.advice.front();
  EXPECT_EQ(identifier_of(first.kind), identifier_of(planted.kind)) << all_of(found.report.advice);
  for (const std::string& words : planted.says) {
    EXPECT_NE(first.text.find(words), std::string::npos) << words << "\n" << all_of(found.report.advice);
  }
  const double truth = static_cast<double>((found.total_ns - mended.total_ns) * planted.ranks);
  ASSERT_TRUE(first.uncertainty_ns);
  EXPECT_NEAR(static_cast<double>(first.saves_ns), truth, 0.15 * truth) << all_of(found.report.advice);
  EXPECT_LE(truth, static_cast<double>(first.saves_ns + *first.uncertainty_ns))
      << all_of(found.report.advice);
}

INSTANTIATE_TEST_SUITE_P(
    All, PlantedFault,
    ::testing::Values(
        Planted{"stencil", 2, stencil, AdviceKind::overlap, {"interior", "MPI_Waitall at halo"}},
        Planted{
            "stencil_of_eight_ranks", 8, stencil, AdviceKind::overlap, {"interior", "MPI_Waitall at halo"}},
        Planted{"stencil_of_two_sides",
                4,
                stencil_of_two_sides,
                AdviceKind::overlap,
                {"interior", "MPI_Sendrecv at"}},
        Planted{"stencil_with_residual",
                2,
                stencil_with_residual,
                AdviceKind::overlap,
                {"interior", "MPI_Waitall at halo"}},
        Planted{"one_rank_sleeps",
                4,
                one_rank_sleeps,
                AdviceKind::host_code,
                {"ank 0", "host code", "15.0 ms", "write log"}},
        Planted{"one_rank_sleeps_before_its_kernels",
                4,
                one_rank_sleeps_before_its_kernels,
                AdviceKind::host_code,
                {"ank 3", "host code", "4.00 ms"}},
        Planted{"one_rank_opens_its_window_late",
                4,
                one_rank_opens_its_window_late,
                AdviceKind::host_code,
                {"ank 2", "8.00 ms", "MPI_Win_start at halo"}},
        Planted{"kernels_are_unbalanced",
                4,
                kernels_are_unbalanced,
                AdviceKind::balance_ranks,
                {"rank 2", "update"}},
        Planted{
            "staged_by_hand", 2, staged_by_hand, AdviceKind::pass_device_pointers, {"MPI_Sendrecv at halo"}},
        Planted{"received_behind_a_kernel",
                2,
                received_behind_a_kernel,
                AdviceKind::post_receives_early,
                {"MPI_Irecv at halo", "update"}},
        Planted{"two_reductions",
                4,
                two_reductions,
                AdviceKind::combine_collectives,
                {"MPI_Allreduce at sum", "MPI_Allreduce at maximum"}},
        Planted{"host_code_on_all_ranks",
                2,
                host_code_on_all_ranks,
                AdviceKind::host_code,
                {"ll ranks", "20.0 ms", "sort particles"}},
        Planted{"stencil_without_synchronisation",
                2,
                stencil_without_synchronisation,
                AdviceKind::overlap,
                {"interior", "MPI_Waitall at halo"}},
        Planted{"one_rank_of_two_sleeps_at_a_reduction",
                2,
                one_rank_of_two_sleeps_at_a_reduction,
                AdviceKind::host_code,
                {"ank 1", "2.00 ms", "MPI_Allreduce at norm"}},
        Planted{"one_rank_sleeps_every_fourth_step",
                4,
                one_rank_sleeps_every_fourth_step,
                AdviceKind::host_code,
                {"ank 2", "40.0 ms", "5 times", "MPI_Sendrecv at halo"}},
        Planted{"host_code_between_kernels",
                4,
                host_code_between_kernels,
                AdviceKind::host_code,
                {"ll ranks", "3.00 ms"}},
        Planted{"kernels_grow_with_the_rank",
                4,
                kernels_grow_with_the_rank,
                AdviceKind::balance_ranks,
                {"rank 3", "spmv"}},
        Planted{"three_reductions",
                4,
                three_reductions,
                AdviceKind::combine_collectives,
                {"MPI_Allreduce at sum", "MPI_Allreduce at maximum", "MPI_Allreduce at minimum"}},
        Planted{"reductions_in_a_loop",
                2,
                reductions_in_a_loop,
                AdviceKind::combine_collectives,
                {"MPI_Allreduce at sums", "80 of them"}},
        Planted{"staged_by_hand_and_not_blocking",
                2,
                staged_by_hand_and_not_blocking,
                AdviceKind::pass_device_pointers,
                {"MPI_I", "at halo"}},
        Planted{"received_blocking_behind_a_kernel",
                2,
                [](PlantedJob& job, bool is_mended) { received_blocking_behind_a_kernel(job, is_mended, 0); },
                AdviceKind::post_receives_early,
                {"MPI_Recv at halo", "update"}},
        Planted{"received_blocking_before_its_send_completes",
                2,
                [](PlantedJob& job, bool is_mended) {
                  received_blocking_behind_a_kernel(job, is_mended, 700 * us);
                },
                AdviceKind::post_receives_early,
                {"MPI_Recv at halo", "update"}},
        Planted{"scalar_each_step",
                4,
                scalar_each_step,
                AdviceKind::reduce_less_often,
                {"MPI_Allreduce at dot"}}),
    [](const ::testing::TestParamInfo<Planted>& planted) { return std::string(planted.param.name); });

/// The dot product's kernel computes what is reduced.
TEST(PlantedDependence, forbids_to_reduce_a_result_beside_its_kernel) {
  const Outcome found = run({"", 4, scalar_each_step, AdviceKind::reduce_less_often, {}}, false);
  for (const Advice& each : found.report.advice) {
    EXPECT_NE(each.kind, AdviceKind::overlap) << each.text;
  }
}

/// The host's code between two reductions may make of the one what the other reduces.
TEST(PlantedDependence, forbids_to_combine_reductions_with_host_code_between_them) {
  const auto step = [](PlantedJob& job, bool) {
    job.allreduce("dot", 8, 200 * us);
    job.host_code(3 * ms);
  };
  const Outcome found = run({"", 4, step, AdviceKind::combine_collectives, {}}, false);
  for (const Advice& each : found.report.advice) {
    EXPECT_NE(each.kind, AdviceKind::combine_collectives) << each.text;
  }
}

/// With a kernel that packs and one that unpacks, alike in length, there is nothing to run beside.
TEST(PlantedDependence, forbids_to_pack_beside_the_exchange) {
  const auto step = [](PlantedJob& job, bool) {
    job.launch("pack", 300 * us);
    job.synchronise();
    exchange(job, halo);
    job.waitall("halo");
    job.launch("unpack", 300 * us);
    job.synchronise();
    job.allreduce("norm", 8, 20 * us);
  };
  const Outcome found = run({"", 2, step, AdviceKind::overlap, {}}, false);
  for (const Advice& each : found.report.advice) {
    EXPECT_NE(each.kind, AdviceKind::overlap) << each.text;
  }
}

TEST(PlantedAdvice, on_a_mended_program_names_its_fault_no_more) {
  for (const auto& [step, kind] : std::vector<std::pair<std::function<void(PlantedJob&, bool)>, AdviceKind>>{
           {stencil, AdviceKind::overlap},
           {one_rank_sleeps, AdviceKind::host_code},
           {kernels_are_unbalanced, AdviceKind::balance_ranks},
           {staged_by_hand, AdviceKind::pass_device_pointers},
           {received_behind_a_kernel, AdviceKind::post_receives_early},
           {two_reductions, AdviceKind::combine_collectives},
           {host_code_on_all_ranks, AdviceKind::host_code}}) {
    const Outcome mended = run({"", 4, step, kind, {}}, true);
    for (const Advice& each : mended.report.advice) {
      EXPECT_NE(identifier_of(each.kind), identifier_of(kind)) << each.text;
    }
  }
}

}  // namespace
}  // namespace penstock::analysis
