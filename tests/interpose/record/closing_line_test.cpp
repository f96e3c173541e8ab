// The last line of a recorded job: which ranks, where, and the command that reads it.
#include "interpose/record/run/closing_line.hpp"

#include <gtest/gtest.h>

#include <string>

#include "child_process.hpp"
#include "interpose/record/recorder.hpp"

namespace penstock {
namespace {

using record::closing_line;
using test::in_child;
using test::TemporaryFolder;

record::Identity job_of(int ranks) {
  record::Identity identity;
  identity.world_size = ranks;
  identity.directory = "penstock-out";
  return identity;
}

TEST(ClosingLine, says_of_how_many_ranks_where_and_what_to_do_next) {
  EXPECT_EQ(closing_line(job_of(1)), "recorded 1 rank in penstock-out; next: penstock report penstock-out");
  EXPECT_EQ(closing_line(job_of(4)), "recorded 4 ranks in penstock-out; next: penstock report penstock-out");
}

TEST(ClosingLine, says_that_some_ranks_or_a_part_of_the_run_were_recorded) {
  record::Identity some = job_of(8);
  some.recorded_ranks = 3;
  EXPECT_EQ(closing_line(some), "recorded 3 of 8 ranks in penstock-out; next: penstock report penstock-out");
  some.keeps_last = true;
  EXPECT_EQ(closing_line(some),
            "recorded a part of the run of 3 of 8 ranks in penstock-out; next: penstock report penstock-out");
  record::Identity window = job_of(2);
  window.window.by = record::WindowRequest::By::profiler;
  EXPECT_EQ(closing_line(window),
            "recorded a part of the run of 2 ranks in penstock-out; next: penstock report penstock-out");
}

TEST(ClosingLine, writes_the_directory_as_a_shell_reads_it) {
  record::Identity job = job_of(1);
  job.directory = "/tmp/my runs/it's";
  EXPECT_EQ(closing_line(job),
            R"(recorded 1 rank in '/tmp/my runs/it'\''s'; next: penstock report '/tmp/my runs/it'\''s')");
}

TEST(ClosingLine, comes_once_at_the_end_from_the_first_rank_that_records) {
  const auto last_words_of = [](int rank) {
    const TemporaryFolder folder;
    const auto result = in_child([&] {
      record::Identity identity = folder.identity();
      identity.world_rank = rank;
      identity.world_size = 2;
      identity.is_first_to_record = rank == 0;
      ASSERT_TRUE(record::begin(identity));
      record::end();
      record::end();
    });
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_EQ(result.errors, "");
    return result.ending;
  };
  EXPECT_EQ(last_words_of(0).find("penstock: recorded 2 ranks in "), 0u);
  EXPECT_EQ(last_words_of(1), "");
}

TEST(ClosingLine, does_not_come_where_nothing_was_recorded_or_the_job_was_aborted) {
  const TemporaryFolder folder;
  const auto windowed = in_child([&] {
    record::Identity identity = folder.identity();
    identity.window.by = record::WindowRequest::By::profiler;
    ASSERT_TRUE(record::begin(identity));
    record::end();
  });
  EXPECT_EQ(windowed.ending, "");
  EXPECT_NE(windowed.errors.find("never began"), std::string::npos) << windowed.errors;
  const TemporaryFolder other_folder;
  const auto aborted = in_child([&] {
    ASSERT_TRUE(record::begin(other_folder.identity()));
    record::end_abruptly(3);
    record::end();
  });
  EXPECT_EQ(aborted.ending, "");
}

}  // namespace
}  // namespace penstock
