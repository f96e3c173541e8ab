// `penstock trend` as a user meets it: exit codes, what goes to which stream, its page.
#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "viz/embed/page.hpp"

namespace penstock::analysis {
namespace {

using testing::content_of;
using testing::Outcome;

class TrendCommand : public ::testing::Test {
 protected:
  /// Runs `penstock <arguments>` by a shell.
  [[nodiscard]] Outcome penstock(const std::string& arguments) const {
    return testing::ran(PENSTOCK_COMMAND " " + arguments, directory_.path());
  }
  [[nodiscard]] std::filesystem::path make_recording(const std::string& name = "recording",
                                                     std::uint32_t run = 0) const {
    std::filesystem::create_directory(file(name));
    testing::RecordingBuilder(0, 1)
        .of_run(run)
        .kernel(0, 10)
        .call({.function = "MPI_Barrier", .begin = 10, .end = 20})
        .write(file(name));
    return file(name);
  }
  [[nodiscard]] std::filesystem::path file(const std::string& name) const { return directory_.path() / name; }

 private:
  testing::TemporaryDirectory directory_;
};

/// One rank with twenty steps of so long, by an NVTX range.
void write_steps(const std::filesystem::path& recording, std::uint64_t step_ns, std::uint32_t run) {
  std::filesystem::create_directory(recording);
  testing::RecordingBuilder builder(0, 1);
  builder.of_run(run);
  std::uint64_t at = 0;
  for (int i = 0; i < 20; ++i, at += step_ns) {
    builder.range("step", at, at + step_ns).kernel(at, at + 5);
    builder.call({.function = "MPI_Bcast", .begin = at + 5, .end = at + step_ns, .call_site = 0x50});
  }
  builder.runs(0, at).write(recording);
}

TEST_F(TrendCommand, writes_a_page_where_this_build_has_one_and_judges_as_ever) {
  const std::string recording = make_recording().string();
  const std::string html = file("trend.html").string();
  const Outcome outcome =
      penstock("trend --fail-if 'exposed > 0.1%' --html " + html + " " + recording + " " + recording);
  if (viz::page().empty()) {
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_NE(outcome.errors.find("this build has no page"), std::string::npos) << outcome.errors;
    return;
  }
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  EXPECT_EQ(outcome.output.find(html + ": "), 0u) << outcome.output;
  EXPECT_EQ(outcome.output.find("The newest run"), std::string::npos) << outcome.output;
  EXPECT_NE(content_of(html).find("\"schema\":\"penstock-trend-1\""), std::string::npos);
  EXPECT_EQ(content_of(html).find("\"schema\":\"penstock-report-2\""), std::string::npos);
  const Outcome both = penstock("trend --json --html " + html + " " + recording);
  EXPECT_EQ(nlohmann::json::parse(both.output).at("schema"), "penstock-trend-1");
  EXPECT_EQ(penstock("trend --html '' " + recording).exit_code, 2);
  EXPECT_EQ(penstock("trend --html /nowhere/t.html " + recording).exit_code, 1);
}

TEST_F(TrendCommand, of_any_number_of_recordings_leaves_out_what_cannot_be_read) {
  const std::string recording = make_recording().string();
  const Outcome one = penstock("trend " + recording);
  EXPECT_EQ(one.exit_code, 0) << one.errors;
  EXPECT_NE(one.output.find("There is no run before it"), std::string::npos) << one.output;
  const std::string another = make_recording("another", 1).string();
  const Outcome some = penstock("trend --json " + recording + " /nowhere " + another);
  EXPECT_EQ(some.exit_code, 0) << some.errors;
  const nlohmann::json json = nlohmann::json::parse(some.output);
  EXPECT_EQ(json.at("schema"), "penstock-trend-1");
  EXPECT_EQ(json.at("runs").size(), 2u);
  EXPECT_EQ(json.at("left_out").at(0).at("recording"), "/nowhere");
  const Outcome none = penstock("trend /nowhere /etc/passwd");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.output, "");
  EXPECT_NE(none.errors.find("penstock: /nowhere: no such file or directory\n"), std::string::npos)
      << none.errors;
  EXPECT_NE(none.errors.find("/etc/passwd"), std::string::npos) << none.errors;
  const Outcome other_step = penstock("trend --step nosuch " + recording);
  EXPECT_EQ(other_step.exit_code, 4);
  EXPECT_NE(other_step.errors.find("has no NVTX range \"nosuch\""), std::string::npos) << other_step.errors;
  EXPECT_EQ(penstock("trend").exit_code, 2);
  EXPECT_EQ(penstock("trend --top 0 " + recording).exit_code, 2);
}

TEST_F(TrendCommand, judges_the_newest_run_and_changes_against_the_one_before_it) {
  const std::string recording = make_recording().string();
  const auto code_of = [&](const std::string& arguments) {
    return penstock("trend " + arguments + " " + recording).exit_code;
  };
  EXPECT_EQ(code_of("--fail-if 'exposed > 0.1%'"), 3);
  EXPECT_EQ(code_of("--fail-if 'exposed > 90%'"), 0);
  EXPECT_EQ(code_of("--fail-if 'exposed > +1%'"), 4);
  EXPECT_EQ(code_of(make_recording("another", 1).string() + " --fail-if 'exposed > +1%'"), 4);
  EXPECT_EQ(code_of("/nowhere --fail-if 'exposed > 90%'"), 4);
  EXPECT_EQ(code_of("--fail-if 'weather > 1%'"), 2);
  const Outcome alone = penstock("trend --fail-if 'exposed > +1%' " + recording);
  EXPECT_NE(alone.errors.find("there is no run to compare with"), std::string::npos) << alone.errors;
}

TEST_F(TrendCommand, fails_by_changes_beyond_what_its_runs_differ_by_anyway) {
  std::uint32_t run = 0;
  const auto of_steps = [&](std::uint64_t step_ns) {
    const std::filesystem::path recording = file("run-" + std::to_string(++run));
    write_steps(recording, step_ns, run);
    return " " + recording.string();
  };
  std::string runs;
  for (const std::uint64_t step_ns : {1000u, 1500u, 1020u, 1400u}) {
    runs += of_steps(step_ns);
  }
  const std::string trend = "trend --as-given --fail-if 'step > +5%'";
  const Outcome restless = penstock(trend + runs);
  EXPECT_EQ(restless.exit_code, 0) << restless.errors;
  EXPECT_EQ(restless.output.find("% ▲"), std::string::npos) << restless.output;
  EXPECT_TRUE(restless.errors.starts_with("penstock trend: step may differ by ")) << restless.errors;
  EXPECT_TRUE(restless.errors.ends_with(" % without a change, so that one of 5 % could not be seen\n"))
      << restless.errors;
  const Outcome beyond = penstock(trend + of_steps(1000) + of_steps(1000) + of_steps(1000) + of_steps(1400));
  EXPECT_EQ(beyond.exit_code, 3);
  EXPECT_EQ(beyond.errors, "penstock trend: step changed by +40 %; it fails if > +5 %\n");
  const Outcome two = penstock(trend + of_steps(1000) + of_steps(1400));
  EXPECT_EQ(two.exit_code, 3);
  EXPECT_NE(two.errors.find(" (judged by the variation within both runs alone; "), std::string::npos)
      << two.errors;
}

TEST_F(TrendCommand, counts_a_run_once_though_a_link_names_it_again) {
  write_steps(file("1"), 1000, 1);
  write_steps(file("2"), 1400, 2);
  std::filesystem::create_directory_symlink("2", file("latest"));
  const Outcome outcome = penstock("trend --json --fail-if 'step > +5%' " + file("1").string() + " " +
                                   file("2").string() + " " + file("latest").string());
  EXPECT_EQ(outcome.exit_code, 3) << outcome.errors;
  const nlohmann::json json = nlohmann::json::parse(outcome.output);
  EXPECT_EQ(json.at("runs").size(), 2u);
  EXPECT_EQ(json.at("left_out").at(0).at("why"), file("latest").string() + " is of the same run as " +
                                                     file("2").string() + ", and does not count again");
}

}  // namespace
}  // namespace penstock::analysis
