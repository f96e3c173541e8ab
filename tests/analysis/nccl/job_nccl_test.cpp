// What the report says of a program that communicates by NCCL, or tells NVTX what NCCL does: counts, bytes
// and who came late are known, and no time is asserted.
//   job_nccl_test MPI_LAUNCH FAMILY PROGRAM PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/support/exit_code.hpp"

namespace penstock::analysis {
namespace {

constexpr std::uint64_t steps = 6;

class JobNccl : public ::testing::Test {
 protected:
  /// Returns the program's exit code.
  [[nodiscard]] int run_program(const std::string& nccl, const std::string& environment = "") const {
    return exit_code_of(fmt::format("{} {} 2 {} -- {} run -o {} {} {} {} >{} 2>&1", mpi_launch, family,
                                    environment, penstock_command, recording(), program, nccl, steps,
                                    file("log")));
  }
  [[nodiscard]] std::string report(const std::string& options) const {
    EXPECT_EQ(exit_code_of(fmt::format("{} report {} {} >{} 2>&1", penstock_command, options, recording(),
                                       file("report"))),
              0);
    return content_of("report");
  }
  [[nodiscard]] nlohmann::json nccl_of_report() const {
    const nlohmann::json json = nlohmann::json::parse(report("--json"));
    EXPECT_TRUE(json.at("flaws").empty()) << json.at("flaws").dump();
    EXPECT_EQ(json.at("steps").at("each").size(), steps);
    return json.at("nccl");
  }
  [[nodiscard]] std::string what_was_said() const { return content_of("log"); }

  static nlohmann::json row_of(const nlohmann::json& nccl, const std::string& kind) {
    for (const nlohmann::json& row : nccl.at("kinds")) {
      if (row.at("kind") == kind) return row;
    }
    ADD_FAILURE() << "no row of " << kind << " in " << nccl.dump();
    return {};
  }
  static void expect_known(const nlohmann::json& nccl) {
    const nlohmann::json all_reduce = row_of(nccl, "AllReduce");
    EXPECT_EQ(all_reduce.at("calls"), 2 * steps);
    EXPECT_EQ(all_reduce.at("calls_without_bytes"), 0);
    EXPECT_EQ(all_reduce.at("bytes"), 2 * steps * (std::uint64_t{64} << 20));
    const nlohmann::json messages = row_of(nccl, "SendRecv");
    EXPECT_EQ(messages.at("calls"), 4 * steps);
    EXPECT_EQ(messages.at("bytes"), 4 * steps * (std::uint64_t{16} << 20));
    for (const nlohmann::json& row : {all_reduce, messages}) {
      EXPECT_EQ(row.at("kernels"), 2 * steps) << row.dump();
      EXPECT_EQ(row.at("joined_kernels"), 2 * steps) << row.dump();
      EXPECT_GT(row.at("waiting_s"), 0.0);
      EXPECT_LE(row.at("exposed_waiting_s"), row.at("exposed_s"));
      EXPECT_GT(row.at("median_gb_per_s"), 0.0);
    }
    const nlohmann::json& late = nccl.at("late_ranks");
    ASSERT_EQ(late.size(), 2u) << late.dump();
    for (const nlohmann::json& each : late) {
      EXPECT_EQ(each.at("rank"), each.at("kind") == "AllReduce" ? 1 : 0);
      EXPECT_EQ(each.at("times"), steps);
    }
    EXPECT_TRUE(nccl.at("unknown").empty()) << nccl.at("unknown").dump();
  }

  [[nodiscard]] std::string recording() const { return file("recording"); }

 private:
  [[nodiscard]] std::string file(const std::string& name) const {
    return (directory_.path() / name).string();
  }
  [[nodiscard]] std::string content_of(const std::string& name) const {
    std::ifstream in(file(name));
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(JobNccl, tells_calls_bytes_and_late_ranks_of_what_NVTX_is_told) {
  const int exit_code = run_program("told");
  if (exit_code == test_support::skipped) GTEST_SKIP() << what_was_said();
  ASSERT_EQ(exit_code, 0) << what_was_said();
  expect_known(nccl_of_report());
  const std::string text = report("");
  EXPECT_NE(text.find("\nNCCL "), std::string::npos) << text;
  EXPECT_NE(text.find("768 MiB"), std::string::npos) << "of the AllReduces\n" << text;
}

TEST_F(JobNccl, tells_kinds_by_kernels_names_where_NVTX_is_told_nothing) {
  const int exit_code = run_program("told", "NCCL_NVTX_DISABLE=1");
  if (exit_code == test_support::skipped) GTEST_SKIP() << what_was_said();
  ASSERT_EQ(exit_code, 0) << what_was_said();
  const nlohmann::json nccl = nccl_of_report();
  for (const char* kind : {"AllReduce", "SendRecv"}) {
    const nlohmann::json row = row_of(nccl, kind);
    EXPECT_EQ(row.at("calls"), 0);
    EXPECT_TRUE(row.at("bytes").is_null());
    EXPECT_EQ(row.at("kernels"), 2 * steps);
    EXPECT_GT(row.at("kernel_s"), 0.0);
    EXPECT_TRUE(row.at("waiting_s").is_null());
  }
  EXPECT_EQ(nccl.at("unknown").size(), 1u);
  EXPECT_TRUE(nccl.at("late_ranks").empty());
}

TEST_F(JobNccl, tells_calls_bytes_and_late_ranks_of_NCCL) {
  const int exit_code = run_program("real");
  if (exit_code == test_support::skipped) GTEST_SKIP() << what_was_said();
  ASSERT_EQ(exit_code, 0) << what_was_said();
  expect_known(nccl_of_report());
}

}  // namespace
}  // namespace penstock::analysis
