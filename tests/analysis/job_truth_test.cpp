// A job that knows how long it waited and why, and what the report says of it. Built once, as job_report_test
// is:
//   job_truth_test MPI_LAUNCH FAMILY KNOWN_TIMES PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

nlohmann::json json_in(const std::string& file) {
  std::ifstream in(file);
  return nlohmann::json::parse(in);
}

/// On a real GPU by 2 %. A simulated one shares the processor with the ranks, who are held up at any place:
/// there, only that every reason is found.
TEST(JobTruth, waits_of_known_length_are_reported_by_cause) {
  const testing::TemporaryDirectory directory;
  const std::string path = directory.path().string();
  // where both ranks use one GPU, too, a receiver waits for the sender's kernel itself, and not for the
  // staging
  setenv("PENSTOCK_TUNING", "shared_gpu_from=0", 1);
  const int code = exit_code_of(fmt::format("{} {} 2 -- {} run -o {}/recording {} 40 {}/truth", mpi_launch,
                                            family, penstock_command, path, program, path));
  if (code == 77) {
    GTEST_SKIP() << "no GPU";
  }
  ASSERT_EQ(code, 0);
  ASSERT_EQ(exit_code_of(fmt::format("{} report --json --step step {}/recording >{}/report", penstock_command,
                                     path, path)),
            0);
  const nlohmann::json truth = json_in(path + "/truth");
  const nlohmann::json report = json_in(path + "/report");
  ASSERT_EQ(report.at("measure"), "exposed_communication") << report.at("why_not_exposed");
  ASSERT_EQ(report.at("steps").at("count"), 40);
  const nlohmann::json& counted = report.at("counted");
  const bool is_simulated = report.at("job").at("simulated_gpu");
  for (const auto& [name, expected_s] : truth.items()) {
    const double reported_s = name == "counted" ? counted.at("counted_s").get<double>()
                                                : counted.at("by_cause_s").at(name).get<double>();
    const double true_s = expected_s.get<double>();
    std::cout << fmt::format("{:20} true {:8.3f} ms, reported {:8.3f} ms ({:+.2f} %)\n", name, true_s * 1e3,
                             reported_s * 1e3, (reported_s / true_s - 1) * 100);
    if (is_simulated) {
      EXPECT_GT(reported_s, 0) << name;
    } else {
      EXPECT_NEAR(reported_s, true_s, 0.02 * true_s) << name;
    }
  }
}

}  // namespace
}  // namespace penstock::analysis
