// Jobs of which only a part is recorded: a window, some ranks, the newest records. Built once, as
// job_report_test is:
//   job_window_test MPI_LAUNCH FAMILY WINDOWED PENSTOCK
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>

#include "tests/analysis/job_test_main.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/running_job.hpp"

namespace penstock::analysis {
namespace {

class JobWindow : public ::testing::Test {
 protected:
  /// `variable`: of the job's environment, as NAME=value.
  [[nodiscard]] std::string job(int ranks, const std::string& options, const std::string& arguments,
                                const std::string& variable = "") const {
    return fmt::format("{} {} {} {} -- {} run {} -o {}/recording {} {} 2>{}/said", mpi_launch, family, ranks,
                       variable, penstock_command, options, path_, program, arguments, path_);
  }
  /// Returns false if there is no GPU.
  bool record(int ranks, const std::string& options, const std::string& arguments,
              const std::string& variable = "") const {
    const int code = exit_code_of(job(ranks, options, arguments, variable));
    EXPECT_TRUE(code == 0 || code == 77) << code << text_in("said");
    return code == 0;
  }
  int report(const std::string& options) const {
    return exit_code_of(fmt::format("{} report {} {}/recording >{}/report 2>{}/errors", penstock_command,
                                    options, path_, path_, path_));
  }
  nlohmann::json json(const std::string& options = "") const {
    EXPECT_EQ(report("--json " + options), 0) << text_in("errors");
    return nlohmann::json::parse(text_in("report"));
  }
  [[nodiscard]] std::string text_in(const std::string& file) const {
    std::ifstream in(path_ + "/" + file);
    return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  }

  const testing::TemporaryDirectory directory_;
  const std::string path_ = directory_.path().string();
};

std::uint64_t messages_in(const nlohmann::json& report) {
  std::uint64_t messages = 0;
  for (const nlohmann::json& row : report.at("transports")) {
    messages += row.at("messages").get<std::uint64_t>();
  }
  return messages;
}

void expect_steps_100_to_149(const nlohmann::json& report) {
  EXPECT_TRUE(report.at("recorded_part").at("is_window")) << report.at("recorded_part");
  EXPECT_GT(report.at("recorded_part").at("from_s"), 0);
  EXPECT_EQ(report.at("steps").at("count"), 50);
  EXPECT_EQ(report.at("steps").at("mark"), "step");
  EXPECT_EQ(messages_in(report), 50u * 3 * 2);
  EXPECT_EQ(report.at("counted").at("unmatched_message_halves"), 0);
  for (const nlohmann::json& row : report.at("mpi_functions")) {
    if (row.at("mpi_function") == "MPI_Allreduce") {
      EXPECT_EQ(row.at("calls"), 50 * 2);
    }
  }
}

TEST_F(JobWindow, of_an_NVTX_range_has_the_steps_that_were_asked_for_and_no_others) {
  if (!record(2, "--window step:100:149", "400 3 0 0")) {
    GTEST_SKIP() << "no GPU";
  }
  expect_steps_100_to_149(json());
  EXPECT_EQ(report("--fail-if 'exposed > 99.99%'"), 0) << text_in("errors");
  EXPECT_EQ(report("--fail-if 'step > 1us'"), 3) << text_in("errors");
}

TEST_F(JobWindow, from_cudaProfilerStart_to_cudaProfilerStop_has_the_steps_between) {
  if (!record(2, "--window profiler", "400 3 100 149")) {
    GTEST_SKIP() << "no GPU";
  }
  expect_steps_100_to_149(json());
}

TEST_F(JobWindow, before_which_much_happens_makes_the_recording_no_larger) {
  if (!record(2, "--window step:2000:2010", "2010 30 0 0")) {
    GTEST_SKIP() << "no GPU";
  }
  EXPECT_EQ(json().at("steps").at("count"), 11);
  // 2,000 steps of 30 messages would be 5 MB; names, table, each thread's and the GPU's blocks are some few
  EXPECT_LT(std::filesystem::file_size(path_ + "/recording/rank-0.penstock"), 3u << 20);
}

TEST_F(JobWindow, that_never_begins_is_said_by_the_job_and_by_the_report) {
  if (!record(2, "--window step:100:149", "20 3 0 0")) {
    GTEST_SKIP() << "no GPU";
  }
  EXPECT_NE(text_in("said").find("NVTX range \"step\" was not entered 100 times"), std::string::npos)
      << text_in("said");
  EXPECT_EQ(report("--fail-if 'exposed > 99%'"), 4);
  EXPECT_NE(text_in("report").find("never began"), std::string::npos) << text_in("report");
}

TEST_F(JobWindow, that_cannot_be_read_in_a_variable_is_said_and_the_whole_run_recorded) {
  if (!record(2, "", "20 3 0 0", "PENSTOCK_WINDOW=step:5:3")) {
    GTEST_SKIP() << "no GPU";
  }
  EXPECT_NE(text_in("said").find("PENSTOCK_WINDOW=step:5:3 is not a valid value"), std::string::npos);
  EXPECT_TRUE(json().at("recorded_part").is_null());
}

TEST_F(JobWindow, of_some_ranks_has_files_of_these_alone_and_no_fault) {
  if (!record(4, "--ranks 0,2-3", "50 3 0 0")) {
    GTEST_SKIP() << "no GPU";
  }
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(std::filesystem::exists(fmt::format("{}/recording/rank-{}.penstock", path_, rank)), rank != 1);
  }
  const std::string recording = path_ + "/recording";
  EXPECT_EQ(text_in("said"),
            fmt::format("penstock: recorded 3 of 4 ranks in {0}; next: penstock report {0}\n", recording));
  const nlohmann::json of_some = json();
  EXPECT_EQ(of_some.at("counted").at("ranks"), 3);
  EXPECT_EQ(of_some.at("counted").at("unmatched_message_halves"), 0);
  EXPECT_NE(of_some.at("flaws").at(0).at("what").get<std::string>().find("not rank 1"), std::string::npos);
}

TEST_F(JobWindow, of_ranks_that_the_job_has_not_is_said_and_the_job_goes_on) {
  if (!record(2, "--ranks 5", "20 3 0 0")) {
    GTEST_SKIP() << "no GPU";
  }
  EXPECT_EQ(text_in("said"),
            "penstock: nothing is recorded: PENSTOCK_RANKS has none of this job's 2 ranks\n");
  EXPECT_FALSE(std::filesystem::exists(path_ + "/recording"));
}

/// 1,600 steps of 30 messages: 4 MB a rank.
constexpr const char* long_run = "1600 30 0 0";

TEST_F(JobWindow, of_the_newest_records_says_where_they_begin_and_decides_nothing) {
  if (!record(2, "--keep-last 2M", long_run)) {
    GTEST_SKIP() << "no GPU";
  }
  for (const char* rank : {"rank-0", "rank-1"}) {
    EXPECT_LE(std::filesystem::file_size(fmt::format("{}/recording/{}.penstock", path_, rank)), 2u << 20);
  }
  const nlohmann::json result = json();
  const nlohmann::json& part = result.at("recorded_part");
  EXPECT_GT(part.at("from_s"), 0);
  EXPECT_EQ(part.at("recorded_s"), part.at("run_s"));
  EXPECT_FALSE(part.at("is_window"));
  EXPECT_TRUE(result.at("steps").at("start_up").is_null());
  EXPECT_FALSE(result.at("steps").at("shutdown").is_null());
  const auto steps = result.at("steps").at("count").get<std::uint64_t>();
  EXPECT_GT(steps, 20u);
  EXPECT_LT(steps, 1600u);
  EXPECT_GE(messages_in(result), steps * 30 * 2);
  EXPECT_EQ(result.at("counted").at("unmatched_message_halves"), 0);
  // all waits for messages are explained: their other sides are known, but for those when knowledge begins
  double unexplained_s = 0;
  for (const nlohmann::json& row : result.at("unattributed")) {
    unexplained_s += row.at("why") == "no_partner" ? row.at("counted_s").get<double>() : 0;
  }
  EXPECT_LE(unexplained_s, 0.05 * result.at("counted").at("counted_s").get<double>());
  EXPECT_EQ(report("--fail-if 'exposed > 10%'"), 4);
  EXPECT_NE(text_in("report").find("! recorded from "), std::string::npos) << text_in("report");
  EXPECT_EQ(exit_code_of(fmt::format("{} diff {}/recording {}/recording >{}/diff 2>&1", penstock_command,
                                     path_, path_, path_)),
            4);
}

TEST_F(JobWindow, of_the_newest_records_of_a_job_that_hangs_shows_what_it_hangs_in) {
  RunningJob hanging_job(path_ + "/recording");
  hanging_job.start(job(2, "--keep-last 2M", std::string(long_run) + " 9"));
  std::string text;
  std::optional<int> ended_with;
  const auto shows_both = [&] {
    return text.find("MPI_Recv") != std::string::npos && text.find("MPI_Barrier") != std::string::npos;
  };
  while (!shows_both() && !ended_with) {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    static_cast<void>(exit_code_of(
        fmt::format("{} report --now {}/recording >{}/now 2>/dev/null", penstock_command, path_, path_)));
    text = text_in("now");
    ended_with = hanging_job.exit_code_if_ended();
  }
  if (ended_with == 77) {
    GTEST_SKIP() << "no GPU";
  }
  ASSERT_FALSE(ended_with) << text_in("said");
  EXPECT_NE(text.find("tag 9"), std::string::npos) << text;
  EXPECT_FALSE(json().at("unfinished").is_null());
  hanging_job.end();
  for (bool runs = true; runs;) {
    EXPECT_EQ(report("--json"), 0) << text_in("errors");
    const nlohmann::json killed = nlohmann::json::parse(text_in("report"));
    ASSERT_FALSE(killed.at("unfinished").is_null());
    runs = killed.at("unfinished").at("is_running");
    if (!runs) {
      EXPECT_GT(killed.at("recorded_part").at("from_s"), 0);
      EXPECT_GT(killed.at("steps").at("count"), 20);
    } else {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
    }
  }
  EXPECT_EQ(report("--fail-if 'exposed > 10%'"), 4);
}

}  // namespace
}  // namespace penstock::analysis
