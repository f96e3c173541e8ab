// Programs with a fault, and what the report advises first; and what their mended twins really save. Built
// once, as job_report_test is:
//   job_planted_test MPI_LAUNCH FAMILY PLANTED PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

struct Planted {
  const char* name;
  const char* kind;
  std::vector<std::string> says;
  bool on_each_mpi = false;  ///< false: on MPICH alone, as each takes seconds and hangs little on the MPI
  int ranks = 2;
};
void PrintTo(const Planted& planted, std::ostream* out) {
  *out << planted.name;
}

struct Recorded {
  nlohmann::json report;  ///< null: there is no GPU
  std::string sizes;      ///< by which the program went, as its twin's arguments
};

std::string sizes_said_in(const std::string& log) {
  constexpr std::string_view mark = "planted: ";
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(mark)) {
      return line.substr(mark.size());
    }
  }
  return "";
}

/// A simulated GPU copies so slowly that the smallest message takes some 10 ms.
Recorded record(const Planted& planted, const std::string& options) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path().string();
  const int code = exit_code_of(fmt::format(
      "{} {} {} SIMULATED_GPU_COPY_MB_PER_S=100 -- {} run -o {}/recording {} {} {} >{}/log 2>&1", mpi_launch,
      family, planted.ranks, penstock_command, path, program, planted.name, options, path));
  if (code == 77) {
    return {};
  }
  EXPECT_EQ(code, 0) << planted.name << "\n" << testing::content_of(path + "/log");
  EXPECT_EQ(exit_code_of(fmt::format("{} report --json --step step {}/recording >{}/report", penstock_command,
                                     path, path)),
            0);
  std::ifstream in(path + "/report");
  return {nlohmann::json::parse(in), sizes_said_in(path + "/log")};
}

class JobPlanted : public ::testing::TestWithParam<Planted> {};

/// Returns true for advice of that kind that says all of these words.
bool is_about(const nlohmann::json& advice, const Planted& planted) {
  const std::string text = advice.at("text");
  return advice.at("kind") == planted.kind &&
         std::all_of(planted.says.begin(), planted.says.end(),
                     [&](const std::string& words) { return text.find(words) != std::string::npos; });
}

/// Kernels of two ranks take turns on one GPU, so that each rank waits for the other's, too.
bool ranks_share_a_gpu(const nlohmann::json& report) {
  std::set<nlohmann::json> seen;
  for (const nlohmann::json& rank : report.at("placement").at("ranks")) {
    for (const nlohmann::json& gpu : rank.at("gpus")) {
      if (!seen.insert(gpu).second) {
        return true;
      }
    }
  }
  return false;
}

/// The first where each rank has a real GPU. A simulated one shares the processor with the ranks, who are
/// held up at any place, which may cost more than the fault, as a shared one does: there, that it is found.
/// How much it saves is not asserted, for both are times: it is printed, and the folder's README has it as
/// measured.
TEST_P(JobPlanted, is_advised) {
  const Planted& planted = GetParam();
  if (!planted.on_each_mpi && family != "mpich" && std::getenv("PLANTED_ON_EACH_MPI") == nullptr) {
    GTEST_SKIP() << "on MPICH alone, unless PLANTED_ON_EACH_MPI is set";
  }
  const auto [report, sizes] = record(planted, "");
  if (report.is_null()) {
    GTEST_SKIP() << "no GPU";
  }
  ASSERT_NE(sizes, "");
  const nlohmann::json mended = record(planted, "--mended " + sizes).report;
  const nlohmann::json& advice = report.at("advice");
  const auto found = std::find_if(advice.begin(), advice.end(),
                                  [&](const nlohmann::json& each) { return is_about(each, planted); });
  ASSERT_NE(found, advice.end()) << advice.dump(1);
  if (!report.at("job").at("simulated_gpu") && !ranks_share_a_gpu(report)) {
    EXPECT_EQ(found, advice.begin()) << advice.dump(1);
  }
  const double ranks = report.at("counted").at("ranks");
  const double found_s = report.at("replay").at("observed_s");
  const double mended_s = mended.at("replay").at("observed_s");
  const double saves_s = found->at("saves_s").get<double>() / ranks;
  const double uncertainty_s = found->at("uncertainty_s").get<double>() / ranks;
  std::cout << fmt::format(
      "{:37} {:6.1f} ms, mended {:6.1f}: saves {:6.1f}, advised {:6.1f} ± {:.1f} ({:+.0f} %), {}\n",
      planted.name, found_s * 1e3, mended_s * 1e3, (found_s - mended_s) * 1e3, saves_s * 1e3,
      uncertainty_s * 1e3, (saves_s / (found_s - mended_s) - 1) * 100,
      found == advice.begin() ? "first" : "not first");
}

INSTANTIATE_TEST_SUITE_P(
    All, JobPlanted,
    ::testing::Values(
        Planted{"stencil", "overlap", {"MPI_Sendrecv at exchange", "interior"}, true},
        Planted{"stencil_without_synchronisation",
                "overlap",
                {"MPI_Waitall at stencil_without_synchronisation", "interior"}},
        Planted{"stencil_of_two_sides", "overlap", {"MPI_Sendrecv at exchange", "interior"}},
        Planted{"stencil_with_residual", "overlap", {"MPI_Waitall at stencil_with_residual", "interior"}},
        Planted{"staged", "pass_device_pointers", {"MPI_Sendrecv at exchange_by_hand"}, true},
        Planted{"staged_by_hand_and_not_blocking",
                "pass_device_pointers",
                {"MPI_I", "at exchange_by_hand_not_blocking"}},
        Planted{"late", "post_receives_early", {"MPI_Irecv at late", "update"}, true},
        Planted{"received_blocking_behind_a_kernel",
                "post_receives_early",
                {"MPI_Recv at received_blocking", "update"},
                true},
        Planted{"sleeper", "host_code", {"rank 0", "write log"}, true},
        Planted{
            "one_rank_sleeps_before_its_kernels", "host_code", {"rank 1", "MPI_Allreduce at reduce_norm"}},
        Planted{
            "one_rank_of_two_sleeps_at_a_reduction", "host_code", {"rank 1", "MPI_Allreduce at reduce_norm"}},
        Planted{"one_rank_sleeps_every_fourth_step", "host_code", {"rank 1", "MPI_Sendrecv at exchange"}},
        Planted{"host", "host_code", {"All ranks", "sort particles"}, true},
        Planted{"host_code_between_kernels", "host_code", {"All ranks", "MPI_Allreduce at reduce_norm"}},
        Planted{"unbalanced", "balance_ranks", {"rank 1", "update"}, true},
        Planted{"kernels_grow_with_the_rank", "balance_ranks", {"rank 2", "spmv"}, false, 3},
        Planted{"two_reductions",
                "combine_collectives",
                {"MPI_Allreduce at two_reductions", "and MPI_Allreduce"}},
        Planted{"three_reductions",
                "combine_collectives",
                {"MPI_Allreduce at three_reductions", "and MPI_Allreduce"}},
        Planted{"reductions_in_a_loop", "combine_collectives", {"MPI_Allreduce at reduce_one_by_one"}, true},
        Planted{"scalar_each_step", "reduce_less_often", {"MPI_Allreduce at scalar_each_step"}}),
    [](const ::testing::TestParamInfo<Planted>& planted) { return std::string(planted.param.name); });

}  // namespace
}  // namespace penstock::analysis
