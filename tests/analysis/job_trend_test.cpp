// Three runs of a program on real ranks, recorded as three commits, and their history. Built once, as
// job_report_test is:
//   job_trend_test MPI_LAUNCH FAMILY PLANTED PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

class JobTrend : public ::testing::Test {
 protected:
  [[nodiscard]] std::string at(const std::string& name) const { return (directory_.path() / name).string(); }
  [[nodiscard]] int record(const std::string& name, const std::string& arguments) const {
    return exit_code_of(
        fmt::format("{} {} 2 GIT_COMMIT=commit-{} SLURM_JOB_ID=7 -- {} run -o {} {} {} >{} 2>&1", mpi_launch,
                    family, name, penstock_command, at(name), program, arguments, at("log")));
  }
  [[nodiscard]] std::string said() const { return testing::content_of(at("log")); }

 private:
  testing::TemporaryDirectory directory_;
};

TEST_F(JobTrend, has_the_runs_in_their_order_with_commit_job_steps_and_region) {
  if (const int code = record("1", "host"); code == 77) {
    GTEST_SKIP() << "no GPU";
  } else {
    ASSERT_EQ(code, 0) << said();
  }
  ASSERT_EQ(record("2", "host"), 0) << said();
  ASSERT_EQ(record("3", "host --mended 1048576 0"), 0) << said();
  const std::string runs = fmt::format("{} {} {}", at("3"), at("1"), at("2"));
  ASSERT_EQ(exit_code_of(fmt::format("{} trend --json --step step --region 'sort particles' {} >{} 2>&1",
                                     penstock_command, runs, at("json"))),
            0)
      << testing::content_of(at("json"));
  const nlohmann::json json = nlohmann::json::parse(testing::content_of(at("json")));
  EXPECT_EQ(json.at("time_of"), "step");
  EXPECT_EQ(json.at("measure"), "exposed_communication");
  ASSERT_EQ(json.at("runs").size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const nlohmann::json& run = json.at("runs").at(i);
    EXPECT_EQ(run.at("commit"), fmt::format("commit-{}", i + 1));
    EXPECT_EQ(run.at("batch_job"), "7");
    EXPECT_EQ(run.at("ranks"), 2);
    EXPECT_EQ(run.at("steps"), 12);
    EXPECT_GT(run.at("parts_s").at("kernels"), 0.0);
    EXPECT_GT(run.at("regions").at(0).at("total_s"), 0.0);
    EXPECT_FALSE(run.at("efficiency").is_null());
    EXPECT_EQ(run.at("change").is_null(), i == 0);
  }
  const nlohmann::json& remarks = json.at("runs").at(2).at("change").at("remarks");
  ASSERT_EQ(remarks.size(), 1u) << remarks.dump();
  EXPECT_NE(remarks.at(0).get<std::string>().find("commands differ"), std::string::npos);
  ASSERT_EQ(exit_code_of(fmt::format("{} trend {} >{} 2>&1", penstock_command, runs, at("text"))), 0);
  EXPECT_NE(testing::content_of(at("text")).find("commit-3"), std::string::npos)
      << testing::content_of(at("text"));
}

}  // namespace
}  // namespace penstock::analysis
