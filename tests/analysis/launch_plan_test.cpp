#include "analysis/cli/launch/launch_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::cli {
namespace {

/// A folder with two preload libraries and a few programs, and an environment that no launcher has touched.
class LaunchPlanTest : public ::testing::Test {
 protected:
  LaunchPlanTest() {
    for (const char* name :
         {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PALS_RANKID", "MV2_COMM_WORLD_RANK", "PMIX_RANK", "LD_PRELOAD",
          "NVTX_INJECTION64_PATH", "CUDA_INJECTION64_PATH", "PENSTOCK_OUTPUT", "PENSTOCK_RECORD"}) {
      ::unsetenv(name);
    }
    touch("libpenstock_mpich.so");
    touch("libpenstock_openmpi.so");
    touch("libpenstock_abi.so");
    make_script("script");
    make_script("mpiexec.mpich");
    touch("plain.txt");
  }
  void touch(const std::string& name) const { std::ofstream(path(name)) << ""; }
  void make_script(const std::string& name) const {
    std::ofstream(path(name)) << "#!/bin/sh\n";
    std::filesystem::permissions(path(name), std::filesystem::perms::owner_all);
  }
  [[nodiscard]] std::filesystem::path path(const std::string& name) const { return directory_.path() / name; }
  [[nodiscard]] LaunchPlan plan(RunOptions options) const { return plan_launch(options, directory_.path()); }
  [[nodiscard]] LaunchPlan plan_of(const std::filesystem::path& program,
                                   std::optional<MpiFamily> family = {}) const {
    RunOptions options;
    options.command = {program.string()};
    options.family = family;
    return plan(options);
  }
  /// Value that the plan sets; "(unset)" if it sets none.
  static std::string value(const LaunchPlan& plan, std::string_view name) {
    const auto found = std::find_if(plan.environment.begin(), plan.environment.end(),
                                    [name](const auto& each) { return each.first == name; });
    return found == plan.environment.end() ? "(unset)" : found->second;
  }

 private:
  analysis::testing::TemporaryDirectory directory_;
};

TEST_F(LaunchPlanTest, a_program_gets_the_preload_library_of_its_mpi) {
#ifdef TINY_MPICH
  EXPECT_EQ(value(plan_of(TINY_MPICH), "LD_PRELOAD"), path("libpenstock_mpich.so"));
#endif
#ifdef TINY_OPENMPI
  EXPECT_EQ(value(plan_of(TINY_OPENMPI), "LD_PRELOAD"), path("libpenstock_openmpi.so"));
#endif
#ifdef TINY_ABI
  EXPECT_EQ(value(plan_of(TINY_ABI), "LD_PRELOAD"), path("libpenstock_abi.so"));
#endif
}

TEST_F(LaunchPlanTest, the_launchers_variables_do_not_overrule_the_program) {
#ifdef TINY_MPICH
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(value(plan_of(TINY_MPICH), "LD_PRELOAD"), path("libpenstock_mpich.so"));
#endif
}

TEST_F(LaunchPlanTest, a_script_goes_by_the_launcher_that_started_it) {
  for (const char* variable : {"PALS_RANKID", "MV2_COMM_WORLD_RANK"}) {
    ::setenv(variable, "0", 1);
    EXPECT_EQ(value(plan_of(path("script")), "LD_PRELOAD"), path("libpenstock_mpich.so")) << variable;
    ::unsetenv(variable);
  }
  ::setenv("PMIX_RANK", "0", 1);
  EXPECT_EQ(value(plan_of(path("script")), "LD_PRELOAD"), path("libpenstock_openmpi.so"));
  ::setenv("PMI_RANK", "0", 1);
  EXPECT_EQ(value(plan_of(path("script")), "LD_PRELOAD"), path("libpenstock_mpich.so"));
  ::setenv("OMPI_COMM_WORLD_RANK", "0", 1);
  EXPECT_EQ(value(plan_of(path("script")), "LD_PRELOAD"), path("libpenstock_openmpi.so"));
}

TEST_F(LaunchPlanTest, a_script_without_launcher_runs_plain_and_it_is_said) {
  const LaunchPlan plan = plan_of(path("script"));
  EXPECT_TRUE(plan.environment.empty());
  EXPECT_EQ(plan.refusal, 0);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("--mpi mpich, --mpi openmpi or --mpi abi"), std::string::npos);
}

TEST_F(LaunchPlanTest, the_user_may_name_the_mpi) {
  EXPECT_EQ(value(plan_of(path("script"), MpiFamily::openmpi), "LD_PRELOAD"), path("libpenstock_openmpi.so"));
  EXPECT_EQ(value(plan_of(path("script"), MpiFamily::abi), "LD_PRELOAD"), path("libpenstock_abi.so"));
}

TEST_F(LaunchPlanTest, recording_is_switched_on_and_the_doors_of_nvtx_and_cuda_are_named) {
  const LaunchPlan plan = plan_of(path("script"), MpiFamily::mpich);
  EXPECT_EQ(value(plan, "PENSTOCK_RECORD"), "1");
  // the program may change its folder
  EXPECT_EQ(value(plan, "PENSTOCK_OUTPUT"), (std::filesystem::current_path() / "penstock-out").string());
  EXPECT_EQ(value(plan, "NVTX_INJECTION64_PATH"), path("libpenstock_mpich.so"));
  EXPECT_EQ(value(plan, "CUDA_INJECTION64_PATH"), path("libpenstock_mpich.so"));
  EXPECT_EQ(value(plan, "PENSTOCK_TRANSPORT"), "(unset)");
  EXPECT_EQ(value(plan, "PENSTOCK_EVERYWHERE"), "(unset)");
}

TEST_F(LaunchPlanTest, the_users_variables_hold_where_no_option_is_given) {
  ::setenv("PENSTOCK_OUTPUT", "/scratch/recording", 1);
  RunOptions options;
  options.family = MpiFamily::mpich;
  options.command = {path("script").string()};
  EXPECT_EQ(value(plan(options), "PENSTOCK_OUTPUT"), "/scratch/recording");
  options.output = "/elsewhere";
  EXPECT_EQ(value(plan(options), "PENSTOCK_OUTPUT"), "/elsewhere");
  ::setenv("PENSTOCK_RECORD", "0", 1);
  EXPECT_EQ(value(plan(options), "PENSTOCK_RECORD"), "0");
  ::unsetenv("PENSTOCK_OUTPUT");
  ::unsetenv("PENSTOCK_RECORD");
}

TEST_F(LaunchPlanTest, a_folder_that_the_loader_cannot_name_is_refused) {
  for (const char* name : {"a b", "a:b"}) {
    const std::filesystem::path libraries = path(name);
    std::filesystem::create_directories(libraries);
    std::ofstream(libraries / "libpenstock_mpich.so") << "library";
    RunOptions options;
    options.family = MpiFamily::mpich;
    options.command = {path("script").string()};
    const LaunchPlan refused = plan_launch(options, libraries);
    EXPECT_EQ(refused.refusal, 2);
    EXPECT_EQ(value(refused, "LD_PRELOAD"), "(unset)");
  }
}

TEST_F(LaunchPlanTest, without_recording_no_tool_door_is_opened) {
  RunOptions options;
  options.command = {path("script").string()};
  options.family = MpiFamily::mpich;
  options.record = false;
  options.transport = "staged";
  options.everywhere = true;
  const LaunchPlan without = plan(options);
  EXPECT_EQ(value(without, "PENSTOCK_RECORD"), "0");
  EXPECT_EQ(value(without, "PENSTOCK_OUTPUT"), "(unset)");
  EXPECT_EQ(value(without, "NVTX_INJECTION64_PATH"), "(unset)");
  EXPECT_EQ(value(without, "PENSTOCK_TRANSPORT"), "staged");
  EXPECT_EQ(value(without, "PENSTOCK_EVERYWHERE"), "1");
}

TEST_F(LaunchPlanTest, another_tool_that_came_first_stays) {
  ::setenv("LD_PRELOAD", "libother.so", 1);
  ::setenv("NVTX_INJECTION64_PATH", "/other/tool.so", 1);
  const LaunchPlan plan = plan_of(path("script"), MpiFamily::mpich);
  EXPECT_EQ(value(plan, "LD_PRELOAD"), path("libpenstock_mpich.so").string() + ":libother.so");
  EXPECT_EQ(value(plan, "NVTX_INJECTION64_PATH"), "(unset)");
}

TEST_F(LaunchPlanTest, the_library_is_not_preloaded_twice) {
  ::setenv("LD_PRELOAD", path("libpenstock_mpich.so").c_str(), 1);
  EXPECT_EQ(value(plan_of(path("script"), MpiFamily::mpich), "LD_PRELOAD"), "(unset)");
}

TEST_F(LaunchPlanTest, a_launcher_is_refused_and_the_right_order_is_said) {
  const LaunchPlan plan = plan_of(path("mpiexec.mpich"));
  EXPECT_TRUE(plan.environment.empty());
  EXPECT_EQ(plan.refusal, 2);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("mpiexec.mpich -n 4 penstock run ./app"), std::string::npos);
}

TEST_F(LaunchPlanTest, a_missing_preload_library_is_said_and_the_program_runs) {
  std::filesystem::remove(path("libpenstock_mpich.so"));
  const LaunchPlan plan = plan_of(path("script"), MpiFamily::mpich);
  EXPECT_TRUE(plan.environment.empty());
  EXPECT_EQ(plan.refusal, 0);
  ASSERT_EQ(plan.notes.size(), 1u);
  EXPECT_NE(plan.notes[0].find("libpenstock_mpich.so is missing"), std::string::npos);
}

TEST_F(LaunchPlanTest, programs_that_cannot_run_are_refused_as_a_shell_does) {
  EXPECT_EQ(plan_of("/nowhere/app").refusal, 127);
  EXPECT_EQ(plan_of("no-such-program-anywhere").refusal, 127);
  EXPECT_EQ(plan_of(path("plain.txt")).refusal, 126);
  EXPECT_EQ(plan_of("/tmp").refusal, 126);
}

TEST_F(LaunchPlanTest, libraries_are_in_lib_beside_a_command_that_was_built) {
  std::filesystem::create_directory(path("lib"));
  touch("lib/libpenstock_openmpi.so");
  EXPECT_EQ(library_folder_of(path("")), path("lib"));
}

TEST_F(LaunchPlanTest, libraries_are_in_a_folder_of_their_own_beside_that_of_an_installed_command) {
  std::filesystem::create_directories(path("bin/lib"));  // somebody else's
  const std::filesystem::path folder = library_folder_of(path("bin"));
  EXPECT_EQ(folder.filename(), "penstock");
  EXPECT_EQ(folder.lexically_relative(path("")).begin()->string().substr(0, 3), "lib");
}

TEST_F(LaunchPlanTest, programs_are_searched_in_path) {
  EXPECT_FALSE(find_program("sh").empty());
  EXPECT_TRUE(find_program("no-such-program-anywhere").empty());
  EXPECT_EQ(find_program("./no-such-program"), "");
}

}  // namespace
}  // namespace penstock::cli
