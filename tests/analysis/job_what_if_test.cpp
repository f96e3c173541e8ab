// The Ising example, what the report says would be if it was changed, and what it is when it really is
// changed. On the simulated GPU, whose kernels and copies last as long as they are told to. Built once, as
// job_report_test is:
//   job_what_if_test MPI_LAUNCH FAMILY ISING PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

/// How fast the GPUs of two ranks are.
struct Pace {
  int first_thread_ns;  ///< of a kernel, on rank 0
  int second_thread_ns;
  int copy_mb_per_s;  ///< 0: as fast as memory
};

/// The report on a run of 6 sweeps at this pace. Kernels last so long that what a loaded machine adds is
/// small.
nlohmann::json report_at(Pace pace) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path().string();
  const std::string command = fmt::format(
      "{} {} 2 SIMULATED_GPU_COPY_MB_PER_S={} -- sh -c 'case ${{PMI_RANK:-$OMPI_COMM_WORLD_RANK}} in "
      "0) export SIMULATED_GPU_THREAD_NS={};; *) export SIMULATED_GPU_THREAD_NS={};; esac; exec \"$@\"' sh "
      "{} run -o {}/recording {} --lattice 256x256x16 --sweeps 6 >{}/log 2>&1",
      mpi_launch, family, pace.copy_mb_per_s, pace.first_thread_ns, pace.second_thread_ns, penstock_command,
      path, program, path);
  EXPECT_EQ(exit_code_of(command), 0) << command << "\n" << testing::content_of(path + "/log");
  EXPECT_EQ(exit_code_of(fmt::format("{} report --json --step sweep {}/recording >{}/report",
                                     penstock_command, path, path)),
            0);
  std::ifstream in(path + "/report");
  return nlohmann::json::parse(in);
}

double observed_s(const nlohmann::json& report) {
  return report.at("replay").at("observed_s");
}

double predicted_s(const nlohmann::json& report, const std::string& what) {
  for (const nlohmann::json& each : report.at("replay").at("what_if")) {
    if (each.at("what") == what) {
      return each.at("total_s");
    }
  }
  ADD_FAILURE() << "no " << what;
  return 0;
}

/// That the two agree is not asserted: both are times. They are printed, and the folder's README has them as
/// measured.
void compare(const char* change, const nlohmann::json& before, double predicted,
             const nlohmann::json& after) {
  std::cout << fmt::format("{}: {:.3f} s, predicted {:.3f} s, really changed {:.3f} s ({:+.1f} %)\n", change,
                           observed_s(before), predicted, observed_s(after),
                           (predicted / observed_s(after) - 1) * 100);
  EXPECT_GT(predicted, 0);
  EXPECT_LT(predicted, observed_s(before));
}

/// Messages take longer than the kernels beside them; when copies are as fast as memory, they are hidden.
TEST(JobWhatIf, messages_that_cost_nothing) {
  const nlohmann::json before = report_at({2000, 2000, 1});
  compare("free messages", before, predicted_s(before, "free_communication"), report_at({2000, 2000, 0}));
}

TEST(JobWhatIf, the_slower_gpu_at_the_mean_of_both) {
  const nlohmann::json before = report_at({2600, 1400, 0});
  compare("balanced ranks", before, predicted_s(before, "balanced"), report_at({2000, 2000, 0}));
}

}  // namespace
}  // namespace penstock::analysis
