// `penstock export` as a user meets it: what is written where, what is left alone, what is said.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "tests/analysis/ran_command.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::content_of;
using testing::Outcome;

/// What this build writes.
const std::vector<std::string> formats{
#ifdef PENSTOCK_HAS_PROTOZERO
    "--perfetto out",
#endif
#ifdef PENSTOCK_HAS_OTF2
    "--otf2 archive",
#endif
    "--csv tables",
};

class ExportCommand : public ::testing::Test {
 protected:
  ExportCommand() {
    std::filesystem::create_directory(recording());
    testing::RecordingBuilder(0, 1)
        .kernel(0, 10)
        .call({.function = "MPI_Barrier", .begin = 10, .end = 20})
        .write(recording());
  }
  [[nodiscard]] std::filesystem::path at(const std::string& name) const {
    return directory_.path() / "work" / name;
  }
  [[nodiscard]] std::filesystem::path recording() const { return directory_.path() / "recording"; }
  /// Runs `penstock export <arguments>` by a shell, in an own directory.
  [[nodiscard]] Outcome run(const std::string& arguments, const std::string& before = "") const {
    std::filesystem::create_directory(at(""));
    return testing::ran("cd " + at("").string() + " && " + before + PENSTOCK_COMMAND " export " + arguments,
                        directory_.path());
  }
  /// That nothing but these is in the directory where `run` works: no half-written export either.
  void expect_only(std::vector<std::string> names) const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator(at(""))) {
      found.push_back(entry.path().filename().string());
    }
    std::sort(found.begin(), found.end());
    EXPECT_EQ(found, names);
  }

 private:
  testing::TemporaryDirectory directory_;
};

#ifdef PENSTOCK_HAS_PROTOZERO
TEST_F(ExportCommand, says_what_it_wrote) {
  const Outcome outcome = run(recording().string() + " --perfetto out.pftrace");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.errors, "");
  EXPECT_EQ(outcome.output.substr(0, 24), "out.pftrace: 2 records, ");
  expect_only({"out.pftrace"});
}
#endif

TEST_F(ExportCommand, needs_one_format_and_says_which_there_are) {
  for (const std::string arguments : {"", "--perfetto a --csv b"}) {
    const Outcome outcome = run(recording().string() + " " + arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments;
    EXPECT_NE(outcome.errors.find("--perfetto,--otf2,--csv"), std::string::npos) << outcome.errors;
  }
  EXPECT_EQ(run(recording().string() + " --perfetto").exit_code, 2);
  EXPECT_EQ(run(recording().string() + " --perfetto ''").exit_code, 2);
}

TEST_F(ExportCommand, replaces_an_earlier_export_only_when_told_to) {
  for (const std::string& to : formats) {
    ASSERT_EQ(run(recording().string() + " " + to).exit_code, 0);
    const Outcome refused = run(recording().string() + " " + to);
    EXPECT_EQ(refused.exit_code, 1);
    EXPECT_NE(refused.errors.find("is there already; --force replaces it"), std::string::npos)
        << refused.errors;
    EXPECT_EQ(run(recording().string() + " --force " + to).exit_code, 0);
  }
  std::filesystem::remove_all(at("archive"));
  std::filesystem::remove_all(at("out"));
  expect_only({"tables"});
}

TEST_F(ExportCommand, never_replaces_what_is_no_export_of_that_kind) {
  const std::string was = content_of(recording() / "rank-0.penstock");
  for (const std::string& format : formats) {
    const std::string option = format.substr(0, format.find(' '));
    for (const std::string to : {" ../recording", " ../recording/rank-0.penstock"}) {
      const Outcome outcome = run(recording().string() + " --force " + option + to);
      EXPECT_EQ(outcome.exit_code, 1) << option << to;
      EXPECT_NE(outcome.errors.find("no such export"), std::string::npos) << outcome.errors;
    }
  }
  EXPECT_EQ(content_of(recording() / "rank-0.penstock"), was);
  expect_only({});
}

TEST_F(ExportCommand, an_empty_folder_is_written_into) {
  std::filesystem::create_directories(at("tables"));
  EXPECT_EQ(run(recording().string() + " --csv tables/").exit_code, 0);
  EXPECT_TRUE(std::filesystem::exists(at("tables/mpi_calls.csv")));
}

TEST_F(ExportCommand, a_place_that_cannot_be_written_is_one_line_and_exit_code_1) {
  for (const std::string& format : formats) {
    const std::string option = format.substr(0, format.find(' '));
    const Outcome outcome = run(recording().string() + " " + option + " nowhere/out");
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_EQ(outcome.errors, "penstock: nowhere/out: No such file or directory\n");
  }
}

TEST_F(ExportCommand, a_full_disk_is_one_line_and_exit_code_1_and_leaves_nothing) {
  testing::RecordingBuilder builder(0, 1);
  for (std::uint64_t i = 0; i < 2000; ++i) builder.call({.function = "MPI_Wait", .begin = i, .end = i + 1});
  builder.write(recording());
  for (const std::string& to : formats) {
    // files may grow to 8 KiB; ignoring the signal makes the write itself fail, as on a full disk
    const Outcome outcome = run(recording().string() + " " + to, "trap '' XFSZ && ulimit -f 8 && ");
    EXPECT_EQ(outcome.exit_code, 1) << to;
    EXPECT_NE(outcome.errors.find("too large"), std::string::npos) << outcome.errors;
    EXPECT_EQ(std::count(outcome.errors.begin(), outcome.errors.end(), '\n'), 1) << outcome.errors;
  }
  expect_only({});
}

TEST_F(ExportCommand, exports_what_is_there_of_a_damaged_job_and_says_what_is_not) {
  testing::RecordingBuilder(0, 3)
      .call({.function = "MPI_Barrier", .begin = 10, .end = 20})
      .write(recording());
  std::ofstream(recording() / "rank-1.penstock") << "not a recording";
  const Outcome outcome = run(recording().string() + " --csv tables");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.errors.find("rank-1.penstock"), std::string::npos) << outcome.errors;
  EXPECT_NE(outcome.errors.find("no recording of rank 1, 2"), std::string::npos) << outcome.errors;
}

TEST_F(ExportCommand, nothing_to_export_is_one_line_and_exit_code_1) {
  std::filesystem::create_directories(at("empty"));
  const Outcome outcome = run("empty --csv out");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.errors, "penstock: empty: no recording in it (rank-*.penstock)\n");
  expect_only({"empty"});
}

}  // namespace
}  // namespace penstock::analysis
