// Who was waited for, and what it did meanwhile, in recordings whose figures can be added up by hand. Times
// are ns.
#include <gtest/gtest.h>

#include "analysis/pipeline/analyse.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;
using testing::whole_report_on;
using trace::Direction;

/// A receive that waits from `post` on.
void receives(RecordingBuilder& rank, std::int32_t from, std::uint64_t post, std::uint64_t complete,
              std::int32_t tag = 0) {
  rank.call({.function = "MPI_Recv", .begin = post, .end = complete, .bytes = 64, .call_site = 0x10})
      .half({.direction = Direction::receive,
             .peer = from,
             .post = post,
             .complete = complete,
             .bytes = 64,
             .tag = tag});
}
void sends(RecordingBuilder& rank, std::int32_t to, std::uint64_t post, std::uint64_t complete,
           std::int32_t tag = 0) {
  rank.call({.function = "MPI_Send", .begin = post, .end = complete, .bytes = 64, .call_site = 0x20})
      .half({.direction = Direction::send,
             .peer = to,
             .post = post,
             .complete = complete,
             .bytes = 64,
             .tag = tag});
}

TEST(Latecomers, of_a_message_tell_what_they_did_while_their_partner_waited) {
  RecordingBuilder waits(0, 2);
  waits.runs(0, 1000).kernel(0, 10);
  receives(waits, 1, 100, 820);
  RecordingBuilder late(1, 2);
  late.runs(0, 1000)
      .kernel(0, 300, "_Z4slowv")
      .call({.function = "MPI_Win_fence", .begin = 300, .end = 350})
      .copy(350, 400, 4096, 2)
      .range("assemble", 400, 800);
  sends(late, 0, 800, 820);
  const Report report = whole_report_on({waits, late});
  ASSERT_EQ(report.latecomers.size(), 1u);
  const LatecomerFigures& figures = report.latecomers[0];
  EXPECT_EQ(figures.rank, 1);
  EXPECT_EQ(figures.mpi_function, "MPI_Send");
  EXPECT_EQ(figures.times, 1u);
  EXPECT_EQ(figures.late_ns, 700u);
  EXPECT_EQ(figures.in_kernels_ns, 200u);
  EXPECT_EQ(figures.in_mpi_ns, 50u);
  EXPECT_EQ(figures.in_copies_ns, 50u);
  EXPECT_EQ(figures.in_host_code_ns, 400u);
  EXPECT_EQ(figures.main_kernel, "slow");
  EXPECT_EQ(figures.host_code, "in the NVTX range assemble");
}

TEST(Latecomers, whose_kernel_has_been_launched_and_has_not_begun_are_in_no_host_code) {
  RecordingBuilder waits(0, 2);
  waits.runs(0, 1000).kernel(0, 10);
  receives(waits, 1, 100, 820);
  RecordingBuilder late(1, 2);
  late.runs(0, 1000).launched_kernel(200, 600, 700, "_Z4slowv");
  sends(late, 0, 800, 820);
  const Report report = whole_report_on({waits, late});
  ASSERT_EQ(report.latecomers.size(), 1u);
  const LatecomerFigures& figures = report.latecomers[0];
  EXPECT_EQ(figures.late_ns, 700u);
  EXPECT_EQ(figures.in_kernels_ns, 100u);
  EXPECT_EQ(figures.in_launches_ns, 400u);
  EXPECT_EQ(figures.in_host_code_ns, 200u);
}

TEST(Latecomers, of_a_message_that_its_sender_did_not_wait_for_are_none) {
  RecordingBuilder sender(0, 2);
  sender.runs(0, 1000).kernel(0, 10);
  sends(sender, 1, 100, 120);  // buffered: it completes long before it is received
  RecordingBuilder receiver(1, 2);
  receiver.runs(0, 1000).kernel(0, 10);
  receives(receiver, 0, 800, 820);
  EXPECT_TRUE(whole_report_on({sender, receiver}).latecomers.empty());
}

TEST(Latecomers, count_from_when_a_partner_waits_and_not_from_when_it_posted) {
  RecordingBuilder waits(0, 2);
  waits.runs(0, 1000)
      .kernel(0, 10)
      .call({.function = "MPI_Irecv", .begin = 100, .end = 110, .bytes = 64, .waits = 0})
      .call({.function = "MPI_Wait", .begin = 600, .end = 820})
      .half({.direction = Direction::receive,
             .peer = 1,
             .post = 100,
             .complete = 820,
             .bytes = 64,
             .blocking = false});
  RecordingBuilder late(1, 2);
  late.runs(0, 1000).kernel(0, 10);
  sends(late, 0, 800, 820);
  const Report report = whole_report_on({waits, late});
  ASSERT_EQ(report.latecomers.size(), 1u);
  EXPECT_EQ(report.latecomers[0].late_ns, 200u);
}

TEST(Latecomers, for_whom_several_ranks_wait_at_once_are_late_once) {
  RecordingBuilder one(0, 3);
  one.runs(0, 1000).kernel(0, 10);
  receives(one, 2, 100, 820);
  RecordingBuilder other(1, 3);
  other.runs(0, 1000).kernel(0, 10);
  receives(other, 2, 300, 850);
  RecordingBuilder late(2, 3);
  late.runs(0, 1000).kernel(0, 10);
  sends(late, 0, 800, 820);
  sends(late, 1, 830, 850);
  const Report report = whole_report_on({one, other, late});
  ASSERT_EQ(report.latecomers.size(), 1u);
  EXPECT_EQ(report.latecomers[0].times, 1u);
  EXPECT_EQ(report.latecomers[0].late_ns, 730u);
  EXPECT_EQ(report.latecomers[0].in_mpi_ns, 20u);
}

constexpr std::uint32_t window_id = 1u << 31;

/// A call on a window, which waits for a peer.
void calls(RecordingBuilder& rank, std::string_view function, std::uint64_t begin, std::uint64_t end,
           std::int32_t peer = -1, std::uint32_t window = window_id) {
  rank.call({.function = function, .begin = begin, .end = end, .peer = peer, .communicator = window});
}

RecordingBuilder with_window(std::int32_t rank) {
  return RecordingBuilder(rank, 2).window(window_id).window(window_id + 1).runs(0, 3000).kernel(0, 10);
}

TEST(Latecomers, at_a_window_are_late_until_they_open_complete_or_unlock_it) {
  RecordingBuilder waits = with_window(0);
  calls(waits, "MPI_Win_start", 100, 810, 1);
  calls(waits, "MPI_Win_wait", 1000, 1730, 1);
  calls(waits, "MPI_Win_lock", 2000, 2920, 1);
  RecordingBuilder late = with_window(1);
  late.kernel(200, 300, "_Z4slowv").range("assemble", 300, 800);
  calls(late, "MPI_Win_post", 800, 805);
  calls(late, "MPI_Win_complete", 1700, 1740);
  calls(late, "MPI_Win_unlock", 2900, 2910);
  const Report report = whole_report_on({waits, late});
  ASSERT_EQ(report.latecomers.size(), 3u);
  EXPECT_EQ(report.latecomers[0].mpi_function, "MPI_Win_unlock");
  EXPECT_EQ(report.latecomers[0].late_ns, 900u);
  EXPECT_EQ(report.latecomers[1].mpi_function, "MPI_Win_complete");
  EXPECT_EQ(report.latecomers[1].late_ns, 700u);
  const LatecomerFigures& opens = report.latecomers[2];
  EXPECT_EQ(opens.mpi_function, "MPI_Win_post");
  EXPECT_EQ(opens.rank, 1);
  EXPECT_EQ(opens.times, 1u);
  EXPECT_EQ(opens.late_ns, 700u);
  EXPECT_EQ(opens.in_kernels_ns, 100u);
  EXPECT_EQ(opens.in_host_code_ns, 600u);
  EXPECT_EQ(opens.main_kernel, "slow");
  EXPECT_EQ(opens.host_code, "in the NVTX range assemble");
}

TEST(Latecomers, at_a_window_are_none_who_did_something_else_or_before_or_elsewhere) {
  RecordingBuilder waits = with_window(0);
  calls(waits, "MPI_Win_start", 100, 810, 1);
  RecordingBuilder other = with_window(1);
  calls(other, "MPI_Win_post", 50, 90);
  calls(other, "MPI_Win_complete", 800, 805);
  calls(other, "MPI_Win_post", 806, 807, -1, window_id + 1);
  calls(other, "MPI_Win_post", 820, 830);
  EXPECT_TRUE(whole_report_on({waits, other}).latecomers.empty());
}

TEST(Latecomers, tell_the_few_long_times_and_their_steps_from_the_many_short_ones) {
  RecordingBuilder waits(0, 2);
  RecordingBuilder late(1, 2);
  for (std::uint64_t step = 0; step < 12; ++step) {
    const std::uint64_t begin = step * 1000;
    const std::uint64_t by = step == 3 || step == 7 ? 400 : 20;
    for (RecordingBuilder* rank : {&waits, &late}) {
      rank->range("step", begin, begin + 1000).kernel(begin, begin + 100);
    }
    receives(waits, 1, begin + 100, begin + 100 + by + 10, static_cast<std::int32_t>(step));
    sends(late, 0, begin + 100 + by, begin + 100 + by + 10, static_cast<std::int32_t>(step));
  }
  waits.runs(0, 12'000);
  late.runs(0, 12'000);
  const Report report = report_on({waits, late}, {});
  ASSERT_EQ(report.latecomers.size(), 1u);
  const LatecomerFigures& figures = report.latecomers[0];
  EXPECT_EQ(figures.times, 12u);
  EXPECT_EQ(figures.late_ns, 2u * 400 + 10 * 20);
  EXPECT_EQ(figures.longest_ns, 400u);
  EXPECT_EQ(figures.long_times, 2u);
  EXPECT_EQ(figures.long_ns, 800u);
  EXPECT_EQ(figures.long_steps, (std::vector<std::uint64_t>{3, 7}));
}

TEST(Latecomers, come_to_collectives_too_blocking_or_not) {
  const auto rank = [](std::int32_t which, std::uint64_t comes, std::uint64_t starts) {
    return RecordingBuilder(which, 2)
        .runs(0, 1000)
        .kernel(0, 10)
        .call({.function = "MPI_Allreduce",
               .begin = comes,
               .end = 410,
               .bytes = 64,
               .call_site = 0x10,
               .collective_ordinal = 1})
        .call({.function = "MPI_Ibarrier",
               .begin = starts,
               .end = starts + 5,
               .call_site = 0x20,
               .collective_ordinal = 2,
               .waits = 0})
        .call({.function = "MPI_Wait", .begin = 900, .end = 920})
        .operation({.function = "MPI_Ibarrier",
                    .post = starts,
                    .complete = 920,
                    .collective_ordinal = 2,
                    .call_site = 0x20});
  };
  const Report report = whole_report_on({rank(0, 100, 800), rank(1, 400, 500)});
  ASSERT_EQ(report.latecomers.size(), 2u);
  EXPECT_EQ(report.latecomers[0].rank, 0);
  EXPECT_EQ(report.latecomers[0].mpi_function, "MPI_Ibarrier");
  EXPECT_EQ(report.latecomers[0].late_ns, 300u);
  EXPECT_EQ(report.latecomers[1].rank, 1);
  EXPECT_EQ(report.latecomers[1].mpi_function, "MPI_Allreduce");
  EXPECT_EQ(report.latecomers[1].late_ns, 300u);
  EXPECT_EQ(report.latecomers[1].in_host_code_ns, 300u);
  EXPECT_EQ(report.latecomers[1].host_code, "before MPI_Allreduce at 0x10");
}

}  // namespace
}  // namespace penstock::analysis
