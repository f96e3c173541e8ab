// Ranks where a launcher has put them, told by the report, and where --gpu-by-rank has:
//   job_placement_test MPI_LAUNCH FAMILY EXAMPLE PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

/// Returns the report of the example on two ranks. `starts`: the words between the launcher and the example.
nlohmann::json report_of(const std::string& environment, const std::string& starts) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path().string();
  const std::string log = path + "/log";
  EXPECT_EQ(exit_code_of(fmt::format("{} {} 2 {} -- {} -o {}/recording {} --lattice 16 --sweeps 2 >{} 2>&1",
                                     mpi_launch, family, environment, starts, path, program, log)),
            0)
      << testing::content_of(log);
  EXPECT_EQ(exit_code_of(fmt::format("{} report --json {}/recording >{}/report 2>{}", penstock_command, path,
                                     path, log)),
            0)
      << testing::content_of(log);
  std::ifstream in(path + "/report");
  return nlohmann::json::parse(in);
}

std::set<std::string> gpus_of(const nlohmann::json& report) {
  std::set<std::string> gpus;
  for (const nlohmann::json& rank : report.at("placement").at("ranks")) {
    for (const nlohmann::json& gpu : rank.at("gpus")) gpus.insert(gpu);
  }
  return gpus;
}

TEST(JobPlacement, names_ranks_that_share_a_core) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  int core = 0;
  while (!CPU_ISSET(core, &allowed)) ++core;
  const nlohmann::json report = report_of("", fmt::format("taskset -c {} {} run", core, penstock_command));
  const nlohmann::json& placement = report.at("placement");
  ASSERT_EQ(placement.at("ranks").size(), 2u);
  for (const nlohmann::json& rank : placement.at("ranks")) {
    EXPECT_EQ(rank.at("cores"), std::to_string(core));
    EXPECT_EQ(rank.at("host"), report.at("job").at("hosts").at(0));
  }
  EXPECT_NE(placement.at("mistakes").dump().find(fmt::format("have 1 core ({})", core)), std::string::npos)
      << placement.dump();
}

TEST(JobPlacement, has_the_GPUs_that_the_ranks_use) {
  const nlohmann::json report = report_of("", penstock_command + " run");
  for (const nlohmann::json& rank : report.at("placement").at("ranks")) {
    EXPECT_EQ(rank.at("gpus").size(), 1u);
    const std::size_t visible = rank.at("visible_gpus");
    EXPECT_GE(visible, 1u);
    EXPECT_EQ(gpus_of(report).size(), std::min<std::size_t>(visible, 2));
  }
}

TEST(JobPlacement, shows_each_rank_a_GPU_of_its_own_if_asked) {
  const nlohmann::json usual = report_of("", penstock_command + " run");
  const bool is_simulated = usual.at("job").at("simulated_gpu");  // whose GPUs no driver lists
  const nlohmann::json report =
      report_of(is_simulated ? "CUDA_VISIBLE_DEVICES=0,1" : "", penstock_command + " run --gpu-by-rank");
  for (const nlohmann::json& rank : report.at("placement").at("ranks")) {
    EXPECT_EQ(rank.at("visible_gpus"), 1);
  }
  EXPECT_EQ(gpus_of(report), gpus_of(usual));
}

struct Launcher {
  const char* kind;  ///< as stand_in_task has it
  const char* job;   ///< its number
};
void PrintTo(const Launcher& launcher, std::ostream* out) {
  *out << launcher.kind;
}

class JobOfLauncher : public ::testing::TestWithParam<Launcher> {};

TEST_P(JobOfLauncher, is_named_and_gives_each_rank_a_GPU_if_asked) {
  const std::string task =
      fmt::format("{}/stand_in_task {}", mpi_launch.substr(0, mpi_launch.rfind('/')), GetParam().kind);
  const nlohmann::json usual = report_of("", fmt::format("{} {} run", task, penstock_command));
  EXPECT_EQ(usual.at("job").at("batch_job"), GetParam().job);
  EXPECT_EQ(usual.at("job").at("ranks"), 2);
  const bool is_simulated = usual.at("job").at("simulated_gpu");
  const nlohmann::json report = report_of(is_simulated ? "CUDA_VISIBLE_DEVICES=0,1" : "",
                                          fmt::format("{} {} run --gpu-by-rank", task, penstock_command));
  EXPECT_EQ(gpus_of(report), gpus_of(usual));
  for (const nlohmann::json& rank : report.at("placement").at("ranks")) {
    EXPECT_EQ(rank.at("visible_gpus"), 1);
  }
}
INSTANTIATE_TEST_SUITE_P(All, JobOfLauncher,
                         ::testing::Values(Launcher{"slurm", "81234"}, Launcher{"flux", "f81234"},
                                           Launcher{"pals", "81234.server"}, Launcher{"jsrun", "81234"},
                                           Launcher{"pbs", "81234.server"}),
                         [](const auto& each) { return each.param.kind; });

}  // namespace
}  // namespace penstock::analysis
