// What the recorder notes of a run besides what it records: from git's files and the environment alone.
#include "interpose/record/run/run_facts.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"
#include "recording_reader.hpp"

namespace penstock {
namespace {

using test::in_child;
using test::ReadRecording;
using test::TemporaryFolder;

const std::string commit = "0123456789abcdef0123456789abcdef01234567";
const std::string other = "89abcdef0123456789abcdef0123456789abcdef";

void write(const std::filesystem::path& file, const std::string& text) {
  std::filesystem::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

void forget_environment() {
  for (const char* name : {"GITHUB_SHA", "CI_COMMIT_SHA", "GIT_COMMIT", "BUILDKITE_COMMIT", "CIRCLE_SHA1",
                           "SLURM_JOB_ID", "PBS_JOBID", "LSB_JOBID", "FLUX_JOB_ID"}) {
    ::unsetenv(name);
  }
}

class WorkTree : public ::testing::Test {
 protected:
  [[nodiscard]] std::filesystem::path root() const { return folder_.path(); }
  [[nodiscard]] std::string commit_in(const std::filesystem::path& folder) const {
    std::filesystem::create_directories(root() / folder);
    return record::commit_of_work_tree(root() / folder);
  }

 private:
  TemporaryFolder folder_;
};

TEST_F(WorkTree, has_the_commit_of_the_branch_at_its_head_seen_from_any_folder_in_it) {
  write(root() / ".git/HEAD", "ref: refs/heads/main\n");
  write(root() / ".git/refs/heads/main", commit + "\n");
  EXPECT_EQ(commit_in("."), commit);
  EXPECT_EQ(commit_in("build/bin"), commit);
}

TEST_F(WorkTree, has_the_commit_itself_where_no_branch_is_checked_out) {
  write(root() / ".git/HEAD", commit + "\n");
  EXPECT_EQ(commit_in("build"), commit);
}

TEST_F(WorkTree, has_the_commit_of_a_packed_branch_and_a_newer_one_of_its_own_file) {
  write(root() / ".git/HEAD", "ref: refs/heads/work/a\n");
  write(root() / ".git/packed-refs", "# pack-refs with: peeled fully-peeled sorted\n" + other +
                                         " refs/heads/main\n" + commit + " refs/heads/work/a\n" + other +
                                         " refs/heads/work/ab\n");
  EXPECT_EQ(commit_in("."), commit);
  write(root() / ".git/refs/heads/work/a", other + "\n");
  EXPECT_EQ(commit_in("."), other);
}

TEST_F(WorkTree, that_is_a_further_one_or_a_submodule_finds_its_git_directory_and_the_shared_branches) {
  write(root() / "more/.git", "gitdir: ../main/.git/worktrees/more\n");
  write(root() / "main/.git/worktrees/more/HEAD", "ref: refs/heads/work\n");
  write(root() / "main/.git/worktrees/more/commondir", "../..\n");
  write(root() / "main/.git/refs/heads/work", commit + "\n");
  EXPECT_EQ(commit_in("more/build"), commit);
}

TEST_F(WorkTree, that_has_no_commit_yet_or_says_anything_else_has_none) {
  EXPECT_EQ(record::commit_of_work_tree("/proc/self"), "");
  write(root() / ".git/HEAD", "ref: refs/heads/main\n");
  EXPECT_EQ(commit_in("."), "");
  write(root() / ".git/HEAD", "ref: ../../../etc/passwd\n");
  EXPECT_EQ(commit_in("."), "");
  write(root() / ".git/HEAD", std::string(40, 'g'));
  EXPECT_EQ(commit_in("."), "");
  write(root() / ".git/HEAD", "");
  EXPECT_EQ(commit_in("."), "");
}

TEST_F(WorkTree, is_not_waited_for_where_its_head_is_a_pipe) {
  std::filesystem::create_directories(root() / ".git");
  ASSERT_EQ(::mkfifo((root() / ".git/HEAD").c_str(), 0600), 0);
  EXPECT_EQ(commit_in("."), "");
}

TEST(RunFacts, a_commit_that_the_environment_names_precedes_the_work_tree) {
  forget_environment();
  ::setenv("GIT_COMMIT", "release-7", 1);
  EXPECT_EQ(record::commit_of_program(), "release-7");
  ::setenv("GIT_COMMIT", std::string(5000, 'x').c_str(), 1);
  EXPECT_NE(record::commit_of_program(), std::string(5000, 'x'));
  ::unsetenv("GIT_COMMIT");
}

TEST(RunFacts, the_job_is_the_batch_systems) {
  forget_environment();
  EXPECT_EQ(record::batch_job(), "");
  ::setenv("SLURM_JOB_ID", "81234", 1);
  EXPECT_EQ(record::batch_job(), "81234");
  ::unsetenv("SLURM_JOB_ID");
}

TEST(RunFacts, the_driver_is_read_from_the_line_of_either_kind_of_kernel_module) {
  EXPECT_EQ(record::version_in("NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.183.01  Sun May 12"),
            "535.183.01");
  EXPECT_EQ(record::version_in("NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.65.06  Release"),
            "580.65.06");
  EXPECT_EQ(record::version_in("580.65.06"), "580.65.06");
  EXPECT_EQ(record::version_in("no version here"), "");
}

std::map<std::string, std::string> facts_in(const ReadRecording& recording) {
  std::map<std::string, std::string> facts;
  for (const trace::Fact& each : recording.all<trace::Fact>(trace::RecordKind::fact)) {
    facts[recording.text(each.name)] = recording.text(each.value);
  }
  return facts;
}

TEST(RunFacts, are_in_the_recording_of_the_first_rank_that_records_alone) {
  const TemporaryFolder folder;
  const auto record_as = [&](int rank) {
    const auto result = in_child([&] {
      forget_environment();
      ::setenv("GIT_COMMIT", commit.c_str(), 1);
      ::setenv("SLURM_JOB_ID", "81234", 1);
      record::Identity identity = folder.identity();
      identity.world_rank = rank;
      identity.is_first_to_record = rank == 0;
      identity.world_size = 2;
      ASSERT_TRUE(record::begin(identity));
      record::end();
    });
    EXPECT_EQ(result.exit_code, 0) << result.errors;
    return facts_in(
        ReadRecording(folder.recording().parent_path() / ("rank-" + std::to_string(rank) + ".penstock")));
  };
  const std::map<std::string, std::string> first = record_as(0);
  EXPECT_EQ(first.at("commit"), commit);
  EXPECT_EQ(first.at("batch_job"), "81234");
  std::map<std::string, std::string> second = record_as(1);
  for (const char* each : {"network", "cores"}) second.erase(each);  // which each rank has
  EXPECT_TRUE(second.empty());
}

}  // namespace
}  // namespace penstock
