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

namespace penstock::analysis {
namespace {

using testing::ByRank;
using testing::PlantedJob;
using testing::PlantedMessage;
using testing::TemporaryDirectory;
using testing::to_device;
using testing::to_host;

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;
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

ByRank on_rank(std::size_t rank, std::uint64_t time_ns, std::uint64_t others_ns = 0) {
  return ByRank([=](std::size_t each) { return each == rank ? time_ns : others_ns; });
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

const PlantedMessage halo{"halo", 800 * us};

void exchange(PlantedJob& job, const PlantedMessage& message) {
  job.irecv(message);
  job.isend(message);
}

/// Pack, exchange, unpack, interior: the interior waits for the exchange for nothing. It is not waited for:
/// the next step's kernels are queued behind it.
void stencil_without_synchronisation(PlantedJob& job, bool is_mended) {
  job.launch("pack", 20 * us);
  job.synchronise();
  exchange(job, halo);
  if (is_mended) {
    job.launch("interior", 600 * us);
  }
  job.waitall("halo");
  job.launch("unpack", 20 * us);
  if (!is_mended) {
    job.launch("interior", 600 * us);
  }
}

void stencil(PlantedJob& job, bool is_mended) {
  stencil_without_synchronisation(job, is_mended);
  job.synchronise();
}

/// The same with the interior before it is packed, on two sides that are sent by calls of their own.
void stencil_of_two_sides(PlantedJob& job, bool is_mended) {
  const PlantedMessage left{"left", 500 * us};
  const PlantedMessage right{"right", 500 * us};
  if (!is_mended) {
    job.launch("interior", 2 * ms);
  }
  job.launch("pack", 20 * us);
  job.synchronise();
  if (is_mended) {
    job.launch("interior", 2 * ms);
  }
  job.sendrecv(left);
  job.sendrecv(right);
  job.synchronise();
}

/// A stencil that checks its residual each step: the exchange is between the reduction and the interior.
void stencil_with_residual(PlantedJob& job, bool is_mended) {
  job.launch("pack", 20 * us);
  job.synchronise();
  exchange(job, halo);
  if (is_mended) {
    job.launch("interior", 1500 * us);
  }
  job.waitall("halo");
  if (!is_mended) {
    job.launch("interior", 1500 * us);
  }
  job.launch("residual", 30 * us);
  job.synchronise();
  job.allreduce("residual", 8, 10 * us);
}

void one_rank_sleeps(PlantedJob& job, bool is_mended) {
  job.launch("interior", 5 * ms);
  job.synchronise();
  job.push("write log");
  job.host_code(on_rank(0, is_mended ? 0 : 15 * ms));
  job.pop();
  job.sendrecv(halo);
}

void one_rank_sleeps_before_its_kernels(PlantedJob& job, bool is_mended) {
  job.host_code(on_rank(3, is_mended ? 0 : 4 * ms));
  job.launch("interior", 5 * ms);
  job.synchronise();
  job.allreduce("norm", 8, 20 * us);
}

void kernels_are_unbalanced(PlantedJob& job, bool is_mended) {
  job.launch("update", is_mended ? ByRank(3 * ms) : on_rank(2, 6 * ms, 2 * ms));
  job.synchronise();
  job.sendrecv(halo);
  job.allreduce("norm", 8, 20 * us);
}

void staged_by_hand(PlantedJob& job, bool is_mended) {
  PlantedMessage message = halo;
  job.launch("update", 500 * us);
  job.synchronise();
  if (is_mended) {
    message.wire_ns = 400 * us;  // a GPU's link is crossed once
  } else {
    job.copy(to_host, message.bytes, 400 * us);
  }
  job.sendrecv(message);
  if (!is_mended) {
    job.copy(to_device, message.bytes, 400 * us);
  }
}

void received_behind_a_kernel(PlantedJob& job, bool is_mended) {
  job.isend(halo);
  if (is_mended) {
    job.irecv(halo);
  }
  job.launch("update", 2 * ms);
  job.synchronise();
  if (!is_mended) {
    job.irecv(halo);
  }
  job.waitall("halo");
  job.launch("use", 100 * us);
  job.synchronise();
}

void two_reductions(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  job.allreduce("sum", 8, 100 * us);
  if (!is_mended) {
    job.allreduce("maximum", 8, 100 * us);
  }
}

void host_code_on_all_ranks(PlantedJob& job, bool is_mended) {
  job.launch("update", 5 * ms);
  job.synchronise();
  job.sendrecv(halo);
  job.push("sort particles");
  job.host_code(is_mended ? 0 : 20 * ms);
  job.pop();
}

void one_rank_of_two_sleeps_at_a_reduction(PlantedJob& job, bool is_mended) {
  job.launch("update", 3 * ms);
  job.synchronise();
  job.host_code(on_rank(1, is_mended ? 0 : 2 * ms));
  job.allreduce("norm", 8, 20 * us);
}

std::size_t step_of_sleeper = 0;

/// Both programs count, one after the other: each has as many steps. On a real machine no step is without a
/// little host code there, which is not told.
void one_rank_sleeps_every_fourth_step(PlantedJob& job, bool is_mended) {
  const bool is_fourth = step_of_sleeper++ % 4 == 3;
  job.launch("update", 3 * ms);
  job.synchronise();
  job.host_code(on_rank(2, is_fourth && !is_mended ? 40 * ms : 12 * us, 12 * us));
  job.sendrecv(halo);
}

void host_code_between_kernels(PlantedJob& job, bool is_mended) {
  job.launch("first", 2 * ms);
  job.synchronise();
  job.host_code(is_mended ? 0 : 3 * ms);
  job.launch("second", 1 * ms);
  job.synchronise();
  job.allreduce("norm", 8, 20 * us);
}

void kernels_grow_with_the_rank(PlantedJob& job, bool is_mended) {
  job.launch("spmv",
             is_mended ? ByRank(2500 * us) : ByRank([](std::size_t rank) { return (rank + 1) * ms; }));
  job.launch("axpy", 200 * us);
  job.synchronise();
  job.allreduce("dot", 8, 30 * us);
}

void three_reductions(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  job.allreduce("sum", 8, 60 * us);
  if (!is_mended) {
    job.allreduce("maximum", 8, 60 * us);
    job.allreduce("minimum", 8, 60 * us);
  }
}

void reductions_in_a_loop(PlantedJob& job, bool is_mended) {
  job.launch("update", 200 * us);
  job.synchronise();
  for (int i = 0; i < (is_mended ? 1 : 5); ++i) {
    job.allreduce("sums", 8, 40 * us);
  }
}

void staged_by_hand_and_not_blocking(PlantedJob& job, bool is_mended) {
  PlantedMessage message{"halo", 300 * us};
  job.launch("update", 500 * us);
  job.synchronise();
  if (is_mended) {
    message.wire_ns = 500 * us;  // slower than the host's: a GPU's link is crossed
  } else {
    job.copy(to_host, message.bytes, 500 * us);
  }
  exchange(job, message);
  job.waitall("halo");
  if (!is_mended) {
    job.copy(to_device, message.bytes, 500 * us);
  }
}

/// What one rank sends moves for longer: then the other one has received, and waits for its send.
void received_blocking_behind_a_kernel(PlantedJob& job, bool is_mended, std::uint64_t more_from_rank_0_ns) {
  const PlantedMessage message{"halo", 800 * us, 1 << 20, more_from_rank_0_ns};
  job.isend(message);
  if (is_mended) {
    job.irecv(message);
  }
  job.launch("update", 3 * ms);
  job.synchronise();
  if (!is_mended) {
    job.recv(message);
  }
  job.waitall("halo");
}

std::size_t step_of_scalar = 0;

/// A dot product that is reduced each step; the twin does it every tenth step.
void scalar_each_step(PlantedJob& job, bool is_mended) {
  job.launch("spmv", 100 * us);
  job.launch("dot", 20 * us);
  job.synchronise();
  if (!is_mended || step_of_scalar++ % 10 == 9) {
    job.allreduce("dot", 8, 80 * us);
  }
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
