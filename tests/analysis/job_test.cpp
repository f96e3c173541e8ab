#include "analysis/recording/job.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;

std::string message_of(const std::filesystem::path& path) {
  try {
    static_cast<void>(find_job(path));
  } catch (const TraceError& error) {
    return error.what();
  }
  return "found";
}

bool says(const Job& job, std::string_view words) {
  return std::any_of(job.flaws.begin(), job.flaws.end(),
                     [words](const Flaw& flaw) { return flaw.what.find(words) != std::string::npos; });
}

std::vector<std::string> names_of(const Job& job) {
  std::vector<std::string> names;
  for (const auto& file : job.files) {
    names.push_back(file.filename().string());
  }
  return names;
}

TEST(Job, files_are_in_order_of_rank) {
  const TemporaryDirectory directory;
  for (const int rank : {10, 2, 0, 1, 3, 4, 5, 6, 7, 8, 9}) {
    RecordingBuilder(rank, 11).write(directory.path());
  }
  const Job job = find_job(directory.path());
  EXPECT_EQ(job.world_size, 11);
  EXPECT_EQ(job.files.size(), 11u);
  EXPECT_EQ(job.files[2].filename(), "rank-2.penstock");
  EXPECT_EQ(job.files[10].filename(), "rank-10.penstock");
  EXPECT_TRUE(job.flaws.empty());
}

TEST(Job, one_file_may_be_named_alone) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 1).write(directory.path());
  EXPECT_EQ(find_job(directory.path() / "rank-0.penstock").files.size(), 1u);
}

TEST(Job, a_missing_directory_is_named) {
  EXPECT_EQ(message_of("/nowhere/penstock-out"), "/nowhere/penstock-out: no such file or directory");
}

TEST(Job, an_empty_directory_holds_no_recording) {
  const TemporaryDirectory directory;
  EXPECT_EQ(message_of(directory.path()),
            directory.path().string() + ": no recording in it (rank-*.penstock)");
}

TEST(Job, a_directory_of_nothing_but_damage_gives_the_first_damage) {
  const TemporaryDirectory directory;
  testing::write_bytes(directory.path() / "rank-0.penstock", {});
  EXPECT_EQ(message_of(directory.path()),
            (directory.path() / "rank-0.penstock").string() + ": at byte 0: empty file");
}

TEST(Job, an_unusable_file_is_left_out_and_its_rank_missed) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2).write(directory.path());
  testing::write_bytes(directory.path() / "rank-1.penstock", std::vector<std::byte>(5000));
  const Job job = find_job(directory.path());
  EXPECT_EQ(names_of(job), std::vector<std::string>{"rank-0.penstock"});
  EXPECT_TRUE(says(job, "zero-filled"));
  EXPECT_TRUE(says(job, "no recording of rank 1 (of 2 ranks)"));
}

TEST(Job, a_second_recording_of_a_rank_is_left_out) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2).write(directory.path());
  RecordingBuilder(1, 2).write(directory.path());
  std::filesystem::copy_file(directory.path() / "rank-0.penstock", directory.path() / "copy.penstock");
  const Job job = find_job(directory.path());
  EXPECT_EQ(names_of(job), (std::vector<std::string>{"rank-0.penstock", "rank-1.penstock"}));
  ASSERT_EQ(job.flaws.size(), 1u);
  EXPECT_EQ(job.flaws[0].file.filename(), "copy.penstock");
  EXPECT_EQ(job.flaws[0].what, "a second recording of rank 0, left out");
}

TEST(Job, files_of_an_earlier_larger_job_are_left_out) {
  const TemporaryDirectory directory;
  for (const int rank : {0, 1, 2, 3}) {
    RecordingBuilder(rank, 4).write(directory.path());
  }
  for (const int rank : {0, 1}) {
    RecordingBuilder later(rank, 2);
    later.header().job_id_low = 99;
    later.runs(5000, 6000).write(directory.path());
  }
  const Job job = find_job(directory.path());
  EXPECT_EQ(job.world_size, 2);
  EXPECT_EQ(names_of(job), (std::vector<std::string>{"rank-0.penstock", "rank-1.penstock"}));
  EXPECT_TRUE(
      says(job, "holds several jobs; the newest is shown, left out: rank-2.penstock, rank-3.penstock"));
}

TEST(Job, files_of_an_earlier_job_of_the_same_size_are_left_out) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2).write(directory.path());
  RecordingBuilder later(1, 2);
  later.header().job_id_high = 99;
  later.runs(5000, 6000).write(directory.path());
  const Job job = find_job(directory.path());
  EXPECT_EQ(names_of(job), std::vector<std::string>{"rank-1.penstock"});
  EXPECT_TRUE(says(job, "left out: rank-0.penstock"));
  EXPECT_TRUE(says(job, "no recording of rank 0"));
}

/// Rank 1 of two, on another node than the builder's own.
RecordingBuilder rank_of_another_node() {
  RecordingBuilder other(1, 2);
  other.header().job_id_low = 99;
  std::snprintf(other.header().host_name, sizeof other.header().host_name, "node02");
  return other;
}

TEST(Job, ranks_of_another_node_belong_to_it_although_nodes_number_their_jobs_themselves) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2).write(directory.path());
  rank_of_another_node().write(directory.path());
  EXPECT_EQ(find_job(directory.path()).files.size(), 2u);
}

TEST(Job, ranks_of_another_node_may_be_another_program_or_have_arguments_of_their_own) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2).write(directory.path());
  RecordingBuilder other = rank_of_another_node();
  std::snprintf(other.header().program, sizeof other.header().program, "./atmosphere --rank 1");
  other.write(directory.path());
  EXPECT_EQ(find_job(directory.path()).files.size(), 2u);
}

TEST(Job, an_absurd_number_of_ranks_is_said_in_one_line) {
  const TemporaryDirectory directory;
  RecordingBuilder(2'000'000'000, 2'147'483'647).write(directory.path());
  const Job job = find_job(directory.path());
  ASSERT_EQ(job.flaws.size(), 1u);
  EXPECT_NE(job.flaws[0].what.find("no recording of rank 0, 1, 2, 3, 4, 5, 6, 7 and 2147483638 more"),
            std::string::npos)
      << job.flaws[0].what;
}

}  // namespace
}  // namespace penstock::analysis
