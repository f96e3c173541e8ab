// Receives that could have been posted before a kernel. Times are ns.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::TemporaryDirectory;
using trace::Direction;

/// Rank 1 sends at `sent`; rank 0 runs a kernel from 1000 to 2000, posts its receive at `posted` and has it
/// at `received`.
Report report_on(std::uint64_t sent, std::uint64_t posted, std::uint64_t received) {
  const TemporaryDirectory directory;
  RecordingBuilder(0, 2)
      .kernel(1000, 2000, "update")
      .call({.function = "MPI_Recv", .begin = posted, .end = received, .bytes = 4096, .call_site = 0x10})
      .half({.direction = Direction::receive,
             .peer = 1,
             .post = posted,
             .complete = received,
             .bytes = 4096,
             .key = 7})
      .runs(0, 5000)
      .write(directory.path());
  RecordingBuilder(1, 2)
      .kernel(0, 1)
      .call({.function = "MPI_Isend", .begin = sent, .end = sent + 10, .bytes = 4096, .waits = 0})
      .half({.direction = Direction::send,
             .peer = 0,
             .post = sent,
             .complete = sent + 10,
             .bytes = 4096,
             .key = 7,
             .blocking = false})
      .runs(0, 4000)  // so that the other rank's time is the job's
      .write(directory.path());
  return analyse(directory.path(), {.whole_run = true});
}

TEST(LateReceives, behind_a_kernel_that_would_have_hidden_them_are_told_with_what_it_would_hide) {
  const Report report = report_on(1200, 2100, 2500);
  ASSERT_EQ(report.late_receives.size(), 1u);
  const LateReceiveFigures& late = report.late_receives[0];
  EXPECT_EQ(late.at, "MPI_Recv at 0x10");
  EXPECT_EQ(late.messages, 1u);
  EXPECT_EQ(late.ready_ns, 900u);
  EXPECT_EQ(late.hides_ns, 400u);
  EXPECT_EQ(late.kernel, "update");
  const auto advice = std::find_if(report.advice.begin(), report.advice.end(), [](const Advice& each) {
    return each.kind == AdviceKind::post_receives_early;
  });
  ASSERT_NE(advice, report.advice.end());
  EXPECT_EQ(advice->saves_ns, 800u) << "400 of the job's time, on two ranks";
  EXPECT_EQ(advice->text,
            "Post the receive of MPI_Recv at 0x10 before update, unless that kernel uses its buffer: on "
            "average, its messages (1) had been sent 0.90 µs before it was posted, while that kernel ran; "
            "posting it earlier would hide 0.20 µs a rank of their transfer.");
}

TEST(LateReceives, gain_no_more_than_the_kernel_ran_since_the_message_was_sent) {
  const Report report = report_on(1900, 2100, 2500);
  ASSERT_EQ(report.late_receives.size(), 1u);
  EXPECT_EQ(report.late_receives[0].hides_ns, 100u);
}

TEST(LateReceives, whose_message_came_behind_the_kernel_are_not_late) {
  EXPECT_TRUE(report_on(2050, 2100, 2500).late_receives.empty());
  EXPECT_TRUE(report_on(2200, 2100, 2500).late_receives.empty());
}

TEST(LateReceives, posted_before_the_kernel_are_not_late) {
  EXPECT_TRUE(report_on(500, 900, 2500).late_receives.empty());
}

TEST(LateReceives, that_cost_nothing_exposed_gain_nothing) {
  EXPECT_TRUE(report_on(1200, 1500, 1900).late_receives.empty());
}

}  // namespace
}  // namespace penstock::analysis
