// The whole way, as a user goes it: an example under `penstock run` on real ranks, then `penstock report`.
// Built once; all that depends on the machine and the build folder comes by arguments, so that it can be
// carried:
//   job_report_test MPI_LAUNCH FAMILY EXAMPLE PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

class JobReport : public ::testing::Test {
 protected:
  [[nodiscard]] std::string recording() const { return (directory_.path() / "recording").string(); }
  [[nodiscard]] int run_example(const std::string& arguments) const {
    return exit_code_of(fmt::format("{} {} 2 -- {} run -o {} {} {} >{} 2>&1", mpi_launch, family,
                                    penstock_command, recording(), program, arguments, log()));
  }
  [[nodiscard]] std::string report(const std::string& options) const {
    const std::string to = (directory_.path() / "report").string();
    EXPECT_EQ(
        exit_code_of(fmt::format("{} report {} {} >{} 2>&1", penstock_command, options, recording(), to)), 0);
    return content_of(to);
  }
  [[nodiscard]] std::string what_was_said() const { return content_of(log()); }

 private:
  [[nodiscard]] std::string log() const { return (directory_.path() / "log").string(); }
  static std::string content_of(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }
  testing::TemporaryDirectory directory_;
};

TEST_F(JobReport, tells_exposed_communication_of_the_ising_example) {
  ASSERT_EQ(run_example("--lattice 16 --sweeps 10"), 0) << what_was_said();
  const nlohmann::json json = nlohmann::json::parse(report("--json"));
  EXPECT_TRUE(json.at("flaws").empty()) << json.at("flaws").dump();
  EXPECT_EQ(json.at("measure"), "exposed_communication") << json.at("why_not_exposed");
  ASSERT_EQ(json.at("ranks").size(), 2u);
  for (const nlohmann::json& rank : json.at("ranks")) {
    EXPECT_TRUE(rank.at("finished"));
    EXPECT_TRUE(rank.at("kernels_recorded"));
    EXPECT_GT(rank.at("kernels_s"), 0.0);
    EXPECT_LE(rank.at("exposed_s"), rank.at("exposed_upper_bound_s"));
    EXPECT_LE(rank.at("exposed_upper_bound_s"), rank.at("total_s"));
    EXPECT_EQ(rank.at("dropped_records"), 0);
    double sum_s = 0;
    for (const nlohmann::json& part_s : rank.at("by_cause_s")) {
      sum_s += part_s.get<double>();
    }
    EXPECT_NEAR(sum_s, rank.at("exposed_s"), 1e-9);
  }
}

TEST_F(JobReport, knows_every_message_of_the_ising_example_by_both_of_its_halves) {
  ASSERT_EQ(run_example("--lattice 16 --sweeps 10"), 0) << what_was_said();
  const nlohmann::json json = nlohmann::json::parse(report("--json"));
  EXPECT_EQ(json.at("counted").at("unmatched_message_halves"), 0);
  const nlohmann::json& transports = json.at("transports");
  EXPECT_TRUE(std::any_of(transports.begin(), transports.end(), [](const nlohmann::json& transport) {
    return transport.at("source") == "device" && transport.at("destination") == "device" &&
           transport.at("transport") != "mpi" && !transport.at("reason").get<std::string>().empty();
  })) << transports.dump();
}

TEST_F(JobReport, names_the_lines_of_the_ising_example_that_communicate) {
  ASSERT_EQ(run_example("--lattice 16 --sweeps 10"), 0) << what_was_said();
  const nlohmann::json json = nlohmann::json::parse(report("--json"));
  const nlohmann::json& sites = json.at("call_sites");
  EXPECT_TRUE(std::any_of(sites.begin(), sites.end(), [](const nlohmann::json& site) {
    return site.at("mpi_function") == "MPI_Waitall" && !site.at("function").get<std::string>().empty();
  })) << sites.dump();
}

TEST_F(JobReport, prints_a_page_for_people) {
  ASSERT_EQ(run_example("--lattice 16 --sweeps 10"), 0) << what_was_said();
  const std::string page = report("");
  EXPECT_NE(page.find("exposed communication"), std::string::npos) << page;
  EXPECT_NE(page.find("MPI_Waitall"), std::string::npos) << page;
}

}  // namespace
}  // namespace penstock::analysis
