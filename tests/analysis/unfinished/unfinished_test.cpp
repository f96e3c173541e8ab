// Jobs that did not end, written as the recorder would have left them.
#include "analysis/unfinished/unfinished.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/pipeline/analyse.hpp"
#include "analysis/pipeline/look.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"
#include "analysis/report/text/report_text.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::HalfWords;
using testing::origin_ns;
using testing::RecordingBuilder;
using testing::TemporaryDirectory;

constexpr std::uint64_t second = 1'000'000'000;

UnfinishedFigures look_at(const std::vector<RecordingBuilder>& ranks) {
  const TemporaryDirectory directory;
  for (const RecordingBuilder& each : ranks) {
    each.write(directory.path());
  }
  return look_at_job(directory.path()).unfinished.value_or(UnfinishedFigures{});
}

/// A rank that was killed after three seconds.
RecordingBuilder killed(std::int32_t rank, std::int32_t size, std::uint64_t after = 3 * second) {
  return RecordingBuilder(rank, size).never_finishes().alive_until(after);
}
RecordingBuilder finished(std::int32_t rank, std::int32_t size) {
  return RecordingBuilder(rank, size).runs(0, 3 * second).alive_until(3 * second, trace::Ending::finalize);
}

std::vector<std::int32_t> waits_for(const UnfinishedFigures& figures, std::size_t rank) {
  const auto& calls = figures.ranks.at(rank).calls;
  return calls.empty() ? std::vector<std::int32_t>{} : calls.front().waits_for;
}

constexpr trace::Direction sent = trace::Direction::send;
constexpr trace::Direction received = trace::Direction::receive;
using Ranks = std::vector<std::int32_t>;

TEST(Unfinished, a_job_of_which_each_rank_reached_MPI_Finalize_has_ended) {
  const TemporaryDirectory directory;
  finished(0, 2).write(directory.path());
  RecordingBuilder(1, 2).runs(0, second).write(directory.path());  // an older recording
  EXPECT_FALSE(look_at_job(directory.path()).unfinished);
}

TEST(Unfinished, a_missing_rank_alone_does_not_make_a_job_unfinished) {
  const TemporaryDirectory directory;
  finished(0, 2).write(directory.path());
  EXPECT_FALSE(look_at_job(directory.path()).unfinished);
}

TEST(Unfinished, two_receives_are_a_deadlock) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7}),
      killed(1, 2).in_call({.function = "MPI_Recv", .begin = second, .peer = 0, .tag = 7}),
  });
  ASSERT_EQ(figures.standstills.size(), 1u);
  EXPECT_EQ(figures.standstills[0].kind, StandstillFigures::Kind::cycle);
  EXPECT_EQ(figures.standstills[0].ranks, (Ranks{0, 1}));
  EXPECT_NE(figures.standstills[0].words.find("0 → 1 → 0: each waits in MPI_Recv for the next"),
            std::string::npos)
      << figures.standstills[0].words;
  EXPECT_EQ(figures.ranks[0].state, RankEnd::killed);
  EXPECT_EQ(figures.ranks[0].last_alive_ns, 3 * second);
  EXPECT_EQ(figures.ranks[0].calls.front().since_ns, second);
}

/// It tells that it lives a few times a second, and of calls when they end.
TEST(Unfinished, a_rank_lived_when_it_entered_the_call_that_it_is_in) {
  const UnfinishedFigures figures =
      look_at({killed(0, 2, 0).in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7}),
               finished(1, 2)});
  EXPECT_EQ(figures.ranks[0].last_alive_ns, second);
}

TEST(Unfinished, a_receive_does_not_wait_for_a_message_that_was_sent) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7}),
      killed(1, 2)
          .half({.direction = sent, .peer = 0, .post = 10, .complete = 20, .tag = 7})
          .in_call({.function = "MPI_Recv", .begin = second, .peer = 0, .tag = 8}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{}));
  EXPECT_EQ(waits_for(figures, 1), (Ranks{0}));
}

TEST(Unfinished, a_message_that_was_received_is_not_there_for_a_second_receive) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2)
          .half({.direction = received, .peer = 1, .post = 30, .complete = 40, .tag = 7})
          .in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7}),
      killed(1, 2).half({.direction = sent, .peer = 0, .post = 10, .complete = 20, .tag = 7}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1}));
}

TEST(Unfinished, a_message_with_another_tag_is_not_the_one_waited_for) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7}),
      killed(1, 2).half({.direction = sent, .peer = 0, .post = 10, .complete = 20, .tag = 6}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1}));
}

TEST(Unfinished, a_call_on_a_window_waits_for_the_member_that_is_missing) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Win_start", .begin = second, .peer = 1}),
      killed(1, 2).in_call({.function = "MPI_Win_wait", .begin = second, .peer = 0}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1}));
  EXPECT_EQ(figures.ranks[0].calls.front().what, "for rank 1");
  ASSERT_EQ(figures.standstills.size(), 1u);
  EXPECT_EQ(figures.standstills[0].kind, StandstillFigures::Kind::cycle);
}

TEST(Unfinished, a_call_on_a_window_may_wait_for_a_rank_that_there_is_not) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Win_lock", .begin = second, .peer = 5000}),
      killed(1, 2).in_call({.function = "MPI_Win_wait", .begin = second, .peer = 0}),
  });
  EXPECT_TRUE(waits_for(figures, 0).empty());
}

TEST(Unfinished, a_receive_from_any_rank_waits_for_all_others_unless_one_has_sent) {
  const auto receiver = [] {
    return killed(0, 3).in_call({.function = "MPI_Recv", .begin = second, .peer = -2});
  };
  UnfinishedFigures figures = look_at({receiver(), killed(1, 3), killed(2, 3)});
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1, 2}));
  EXPECT_TRUE(figures.ranks[0].calls.front().waits_for_any);
  figures =
      look_at({receiver(), killed(1, 3),
               killed(2, 3).half({.direction = sent, .peer = 0, .post = 10, .complete = 20, .tag = 3})});
  EXPECT_EQ(waits_for(figures, 0), (Ranks{}));
}

TEST(Unfinished, large_sends_wait_for_receives_that_were_not_posted) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3).in_call({.function = "MPI_Send", .begin = second, .peer = 1, .tag = 4}),
      killed(1, 3).in_call({.function = "MPI_Send", .begin = second, .peer = 2, .tag = 4}),
      killed(2, 3).in_call({.function = "MPI_Send", .begin = second, .peer = 0, .tag = 4}),
  });
  ASSERT_EQ(figures.standstills.size(), 1u);
  EXPECT_EQ(figures.standstills[0].ranks, (Ranks{0, 1, 2}));
  EXPECT_NE(figures.next.find("MPI_Sendrecv"), std::string::npos) << figures.next;
}

TEST(Unfinished, a_send_does_not_wait_for_a_rank_that_has_posted_the_receive_and_is_in_MPI) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3).in_call({.function = "MPI_Send", .begin = second, .peer = 1, .tag = 4}),
      killed(1, 3)
          .call({.function = "MPI_Irecv", .begin = 10, .end = 20, .peer = 0, .waits = 0, .tag = 4})
          .in_call({.function = "MPI_Recv", .begin = second, .peer = 2, .tag = 9}),
      killed(2, 3),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{}));
  EXPECT_EQ(waits_for(figures, 1), (Ranks{2}));
}

TEST(Unfinished, MPI_Waitall_waits_for_those_of_its_operations_whose_other_side_is_not_there) {
  const auto isend = [](std::uint64_t at, std::int32_t to) {
    return testing::CallWords{
        .function = "MPI_Isend", .begin = at, .end = at + 1, .peer = to, .waits = 0, .tag = 1};
  };
  const auto irecv = [](std::uint64_t at, std::int32_t from) {
    return testing::CallWords{
        .function = "MPI_Irecv", .begin = at, .end = at + 1, .peer = from, .waits = 0, .tag = 1};
  };
  const UnfinishedFigures figures = look_at({
      killed(0, 4)
          .call(irecv(50, 3))  // posted long before, and not waited for
          .call(irecv(100, 1))
          .call(irecv(110, 2))
          .call(isend(120, 1))
          .in_call({.function = "MPI_Waitall",
                    .begin = second,
                    .first_post = 100,
                    .last_post = 120,
                    .operations = 3}),
      killed(1, 4)
          .call(irecv(100, 0))
          .half({.direction = sent, .peer = 0, .post = 120, .complete = 130, .tag = 1})
          .in_call({.function = "MPI_Waitall",
                    .begin = second,
                    .first_post = 100,
                    .last_post = 100,
                    .operations = 1}),
      killed(2, 4),
      killed(3, 4),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{2}));
  EXPECT_EQ(waits_for(figures, 1), (Ranks{}));
  EXPECT_EQ(figures.ranks[0].calls.front().what, "from rank 2, tag 1");
}

TEST(Unfinished, an_operation_that_has_completed_is_not_waited_for) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3)
          .call({.function = "MPI_Irecv", .begin = 100, .end = 101, .peer = 1, .waits = 0, .tag = 1})
          .half({.direction = received, .peer = 1, .post = 100, .complete = 500, .blocking = false, .tag = 1})
          .call({.function = "MPI_Irecv", .begin = 110, .end = 111, .peer = 2, .waits = 0, .tag = 1})
          .in_call({.function = "MPI_Waitall",
                    .begin = second,
                    .first_post = 100,
                    .last_post = 110,
                    .operations = 2}),
      killed(1, 3),
      killed(2, 3),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{2}));
}

TEST(Unfinished, persistent_operations_are_those_that_were_initialised) {
  const auto init = [](const char* function, std::uint64_t at, std::int32_t peer) {
    return testing::CallWords{
        .function = function, .begin = at, .end = at + 1, .peer = peer, .waits = 0, .tag = 1};
  };
  const UnfinishedFigures figures = look_at({
      killed(0, 3)
          .call(init("MPI_Recv_init", 50, 1))
          .call(init("MPI_Recv_init", 60, 2))
          .half({.direction = received, .peer = 1, .post = 100, .complete = 110, .blocking = false, .tag = 1})
          .half({.direction = received, .peer = 2, .post = 100, .complete = 110, .blocking = false, .tag = 1})
          .in_call({.function = "MPI_Waitall",
                    .begin = second,
                    .first_post = 50,
                    .last_post = 60,
                    .operations = 2}),
      killed(1, 3)
          .call(init("MPI_Send_init", 50, 0))
          .half({.direction = sent, .peer = 0, .post = 100, .complete = 110, .blocking = false, .tag = 1})
          .half({.direction = sent, .peer = 0, .post = 200, .complete = 210, .blocking = false, .tag = 1}),
      killed(2, 3).half({.direction = sent, .peer = 0, .post = 100, .complete = 110, .tag = 1}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{2}));
}

TEST(Unfinished, MPI_Sendrecv_waits_for_both_of_its_sides) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3).in_call(
          {.function = "MPI_Sendrecv", .begin = second, .peer = 1, .tag = 1, .source = 2, .source_tag = 1}),
      killed(1, 3),
      killed(2, 3),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1, 2}));
}

TEST(Unfinished, ranks_in_a_barrier_wait_for_the_one_that_has_not_come) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3).in_call({.function = "MPI_Barrier", .begin = second, .collective_ordinal = 5}),
      killed(1, 3)
          .call({.function = "MPI_Barrier", .begin = 100, .end = 200, .collective_ordinal = 4})
          .call({.function = "MPI_Send", .begin = 300, .end = 400, .peer = 2}),
      killed(2, 3).in_call({.function = "MPI_Barrier", .begin = second, .collective_ordinal = 5}),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1}));
  EXPECT_EQ(waits_for(figures, 2), (Ranks{1}));
  ASSERT_EQ(figures.standstills.size(), 1u);
  EXPECT_EQ(figures.standstills[0].kind, StandstillFigures::Kind::chain);
  EXPECT_EQ(figures.standstills[0].ranks.back(), 1);
  EXPECT_EQ(figures.standstills[0].waiting_ranks, 2u);
  EXPECT_NE(figures.standstills[0].words.find("outside MPI, after MPI_Send"), std::string::npos)
      << figures.standstills[0].words;
}

TEST(Unfinished, MPI_Bcast_waits_for_its_root_first) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3),
      killed(1, 3).in_call({.function = "MPI_Bcast", .begin = second, .peer = 0, .collective_ordinal = 1}),
      killed(2, 3),
  });
  EXPECT_EQ(waits_for(figures, 1), (Ranks{0}));
}

TEST(Unfinished, a_collective_among_neighbours_does_not_wait_for_all_others) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2).in_call({.function = "MPI_Neighbor_alltoall", .begin = second, .collective_ordinal = 1}),
      killed(1, 2),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{}));
  EXPECT_EQ(figures.ranks[0].calls.size(), 1u);
}

TEST(Unfinished, different_collectives_on_one_communicator_are_named_with_their_ranks) {
  const UnfinishedFigures figures = look_at({
      killed(0, 3).in_call({.function = "MPI_Allreduce", .begin = second, .collective_ordinal = 5}),
      killed(1, 3)
          .call({.function = "MPI_Bcast", .begin = 100, .end = 200, .peer = 1, .collective_ordinal = 5})
          .in_call({.function = "MPI_Barrier", .begin = second, .collective_ordinal = 6}),
      killed(2, 3).in_call({.function = "MPI_Allreduce", .begin = second, .collective_ordinal = 5}),
  });
  ASSERT_FALSE(figures.standstills.empty());
  EXPECT_EQ(figures.standstills[0].kind, StandstillFigures::Kind::mismatched_collectives);
  EXPECT_NE(figures.standstills[0].words.find("as its 5th: ranks 0 and 2 called MPI_Allreduce"),
            std::string::npos)
      << figures.standstills[0].words;
  EXPECT_NE(figures.standstills[0].words.find("rank 1 called MPI_Bcast"), std::string::npos);
}

TEST(Unfinished, a_pending_nonblocking_collective_is_waited_for_in_the_call_that_completes_it) {
  const auto ibarrier = testing::CallWords{
      .function = "MPI_Ibarrier", .begin = 100, .end = 110, .collective_ordinal = 1, .waits = 0};
  const UnfinishedFigures figures = look_at({
      killed(0, 2).call(ibarrier).in_call(
          {.function = "MPI_Wait", .begin = second, .first_post = 100, .last_post = 100, .operations = 1}),
      killed(1, 2),
  });
  EXPECT_EQ(waits_for(figures, 0), (Ranks{1}));
}

TEST(Unfinished, who_ended_first_comes_first) {
  const UnfinishedFigures figures =
      look_at({killed(0, 3, 9 * second), killed(1, 3), killed(2, 3, 9 * second)});
  EXPECT_EQ(
      figures.words,
      "The job did not end: rank 1 was killed, or crashed, at about 3.00 s; ranks 0 and 2 were killed, or "
      "crashed, at about 9.00 s.");
}

RecordingBuilder aborted(std::int32_t rank, std::int32_t size, std::uint64_t at) {
  RecordingBuilder builder = killed(rank, size, at).runs(0, at).alive_until(at, trace::Ending::abort);
  builder.header().abort_code = 5;
  return builder;
}

TEST(Unfinished, a_rank_that_aborted_stands_before_those_that_were_killed_because_of_it) {
  // the others were seen alive for the last time shortly before
  const UnfinishedFigures figures =
      look_at({killed(0, 3, 2 * second), aborted(1, 3, 2 * second + second / 4), killed(2, 3, 2 * second)});
  EXPECT_EQ(figures.words,
            "The job did not end: rank 1 called MPI_Abort(5) at about 2.25 s; ranks 0 and 2 were killed, or "
            "crashed, "
            "at about 2.00 s.");
  const UnfinishedFigures later = look_at({killed(0, 2, second), aborted(1, 2, 3 * second)});
  EXPECT_TRUE(later.words.starts_with("The job did not end: rank 0 was killed, or crashed, at about 1.00 s;"))
      << later.words;
}

TEST(Unfinished, who_gave_up_while_nobody_waited_is_to_be_looked_at) {
  EXPECT_EQ(look_at({killed(0, 2, 2 * second), aborted(1, 2, 2 * second)}).next,
            "look at why rank 1 gave up there: its error output.");
  const auto exited = [](std::int32_t rank) {
    return killed(rank, 2).alive_until(second, trace::Ending::exit);
  };
  EXPECT_EQ(look_at({exited(0), exited(1)}).next,
            "look at why ranks 0 and 1 gave up there: their error output.");
  EXPECT_EQ(look_at({killed(0, 2, second - second / 4), exited(1)}).next,
            "look at why rank 1 gave up there: its error output.");
  EXPECT_EQ(look_at({killed(0, 2, second / 4), exited(1)}).next,
            "no rank waited for one that was not there: look at what the job wrote to stderr.")
      << "rank 0 ended long before";
  EXPECT_EQ(look_at({killed(0, 2), killed(1, 2)}).next,
            "no rank waited for one that was not there: look at what the job wrote to stderr.");
}

TEST(Unfinished, two_ranks_that_ended_alike_are_both) {
  EXPECT_EQ(look_at({killed(0, 2), killed(1, 2)}).words,
            "The job did not end: both ranks were killed, or crashed, at about 3.00 s.");
}

TEST(Unfinished, who_waited_for_a_rank_that_aborted_is_told_in_one_sentence) {
  const auto receiver = [] {
    return killed(0, 2).in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7});
  };
  const UnfinishedFigures in_call = look_at(
      {receiver(), aborted(1, 2, 3 * second).in_call({.function = "MPI_Abort", .begin = 3 * second - 10})});
  ASSERT_EQ(in_call.standstills.size(), 1u);
  EXPECT_TRUE(
      in_call.standstills[0].words.starts_with("Rank 0 waited for rank 1, which called MPI_Abort(5) at "))
      << in_call.standstills[0].words;
  EXPECT_EQ(in_call.standstills[0].words.find("not known"), std::string::npos)
      << in_call.standstills[0].words;
  const UnfinishedFigures within = look_at(
      {receiver(), aborted(1, 2, 3 * second).in_call({.function = "MPI_Barrier", .begin = 2 * second})});
  EXPECT_NE(within.standstills[0].words.find(" when it called MPI_Abort(5)"), std::string::npos)
      << within.standstills[0].words;
}

TEST(Unfinished, abort_exit_finalize_and_a_missing_recording_are_told_apart) {
  RecordingBuilder aborts = killed(0, 5).runs(0, 2 * second).alive_until(2 * second, trace::Ending::abort);
  aborts.header().abort_code = 5;
  const UnfinishedFigures figures =
      look_at({aborts, killed(1, 5).alive_until(second, trace::Ending::exit), finished(2, 5), killed(4, 5)});
  ASSERT_EQ(figures.ranks.size(), 5u);
  EXPECT_EQ(figures.ranks[0].state, RankEnd::aborted);
  EXPECT_EQ(figures.ranks[0].abort_code, 5);
  EXPECT_EQ(figures.ranks[1].state, RankEnd::exited);
  EXPECT_EQ(figures.ranks[2].state, RankEnd::finished);
  EXPECT_EQ(figures.ranks[3].state, RankEnd::missing);
  EXPECT_EQ(figures.ranks[4].state, RankEnd::killed);
  EXPECT_FALSE(figures.is_running);
}

TEST(Unfinished, a_recording_of_an_older_format_says_that_it_does_not_know_the_calls) {
  const UnfinishedFigures figures = look_at(
      {RecordingBuilder(0, 1).never_finishes().call({.function = "MPI_Send", .begin = 10, .end = 20})});
  ASSERT_EQ(figures.ranks.size(), 1u);
  EXPECT_FALSE(figures.ranks[0].calls_known);
  EXPECT_NE(figures.ranks[0].last_call.find("MPI_Send"), std::string::npos);
}

TEST(Unfinished, a_call_whose_record_is_there_has_ended) {
  const UnfinishedFigures figures = look_at({
      killed(0, 2)
          .call({.function = "MPI_Recv", .begin = 100, .end = 200, .peer = 1, .tag = 7})
          .in_call({.function = "MPI_Recv", .begin = 100, .peer = 1, .tag = 7}),
      killed(1, 2),
  });
  EXPECT_TRUE(figures.ranks[0].calls.empty());
}

TEST(Unfinished, a_number_of_ranks_that_cannot_be_is_no_reason_to_take_all_memory) {
  RecordingBuilder damaged = killed(0, 2);
  damaged.header().world_size = 0x7fffffff;
  EXPECT_LE(look_at({damaged}).ranks.size(), 2000u);
}

TEST(Unfinished, a_condition_on_a_job_that_did_not_end_is_not_known) {
  const Report report = testing::report_on({killed(0, 2).kernel(0, 500), finished(1, 2).kernel(0, 500)}, {});
  std::string why;
  const std::optional<FailCondition> condition = FailCondition::parse("exposed > 10%", why);
  ASSERT_TRUE(condition);
  EXPECT_FALSE(condition->figure(report));
  EXPECT_NE(condition->why_unknown(report).find("rank 0 was killed"), std::string::npos);
}

TEST(Unfinished, golden_screen_of_a_deadlock) {
  const TemporaryDirectory directory;
  killed(0, 4)
      .in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7})
      .write(directory.path());
  killed(1, 4)
      .in_call({.function = "MPI_Recv", .begin = second, .peer = 0, .tag = 7})
      .write(directory.path());
  killed(2, 4)
      .in_call({.function = "MPI_Barrier", .begin = 2 * second, .collective_ordinal = 1})
      .write(directory.path());
  std::string text = to_text_of_look(look_at_job(directory.path()), {});
  text.erase(0, text.find("! "));  // the header has the local time
  text.resize(text.find("! " + directory.path().string()));
  EXPECT_EQ(
      text,
      "! The job did not end: ranks 0 to 2 were killed, or crashed, at about 3.00 s; rank 3 has no\n"
      "recording.\n"
      "Deadlock 0 → 1 → 0: each waits in MPI_Recv for the next. 1 more rank waits for them.\n"
      "Rank 2 waited for rank 3, which has no recording.\n"
      "Next: one of them must send before it receives: look for the send that should have come first, and\n"
      "for its rank, tag and communicator.\n"
      "\n"
      "rank  ended         last alive  in                                                   from  waits for\n"
      "   0  killed            3.00 s  MPI_Recv at unknown source line: from rank 1, ta…  1.00 s  1\n"
      "   1  killed            3.00 s  MPI_Recv at unknown source line: from rank 0, ta…  1.00 s  0\n"
      "   2  killed            3.00 s  MPI_Barrier at unknown source line                 2.00 s  0, 1, 3\n"
      "   3  no recording           –\n"
      "\n");
}

TEST(Unfinished, calls_of_a_wrapper_that_is_to_be_skipped_are_shown_where_it_was_called) {
  const TemporaryDirectory directory;
  RecordingBuilder rank = killed(0, 2);
  rank.module("/nowhere/app", 0x10000, 0x11000, 0, 0x10000)
      .module("/nowhere/libhalo.so", 0x20000, 0x21000, 0, 0x20000);
  rank.in_call(
      {.function = "MPI_Recv", .begin = second, .peer = 1, .call_site = rank.path({0x20010, 0x10010})});
  rank.write(directory.path());
  const auto shown = [&](const SkipPatterns& skip) {
    return look_at_job(directory.path(), skip).unfinished.value().ranks.at(0).calls.at(0).call;
  };
  EXPECT_NE(shown({}).find("libhalo.so"), std::string::npos) << shown({});
  EXPECT_NE(shown({.more = {"libhalo.so"}}).find("app"), std::string::npos);
}

TEST(Unfinished, messages_of_which_the_records_were_overwritten_are_counted) {
  const auto look = [](std::uint64_t messages_sent) {
    RecordingBuilder receiver = killed(0, 2);
    receiver.in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .tag = 7})
        .lost_until(second / 2)
        .lost_halves(received, 1, 100, second / 4, 7);
    RecordingBuilder sender = killed(1, 2);
    sender.in_call({.function = "MPI_Barrier", .begin = second, .collective_ordinal = 1})
        .lost_until(second / 2)
        .lost_halves(sent, 0, messages_sent, second / 4, 7);
    return look_at({receiver, sender});
  };
  EXPECT_EQ(waits_for(look(100), 0), Ranks{1});
  EXPECT_EQ(waits_for(look(101), 0), Ranks{}) << "one is under way";
  EXPECT_FALSE(look(100).is_whole);
}

TEST(Unfinished, an_operation_of_which_the_completion_may_have_been_overwritten_is_not_waited_for) {
  const auto look = [](std::uint64_t lost_until) {
    RecordingBuilder sender = killed(0, 2);
    sender.in_call({.function = "MPI_Ssend", .begin = second, .peer = 1, .tag = 3});
    RecordingBuilder receiver = killed(1, 2);
    receiver.call({.function = "MPI_Irecv", .begin = 100, .end = 110, .peer = 0, .waits = 0, .tag = 3})
        .in_call({.function = "MPI_Barrier", .begin = second, .collective_ordinal = 1});
    if (lost_until != 0) {
      receiver.lost_until(lost_until);
    }
    return look_at({sender, receiver});
  };
  EXPECT_EQ(waits_for(look(0), 0), Ranks{}) << "the receive is there";
  EXPECT_EQ(waits_for(look(second / 2), 0), Ranks{1}) << "it may have completed long ago";
}

TEST(Unfinished, a_call_in_a_program_that_was_rebuilt_since_is_not_named_and_it_is_said_once) {
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe");
  const trace::ModuleBuild other{trace::BuildBy::build_id, 20, {1, 2, 3}};
  const TemporaryDirectory directory;
  killed(0, 2)
      .module(program.string(), 0x1000, 0x9000000, 0, 0x1000, other)
      .call({.function = "MPI_Barrier", .begin = 10, .end = 20, .call_site = 0x1800})
      .in_call({.function = "MPI_Recv", .begin = second, .peer = 1, .call_site = 0x2800})
      .write(directory.path());
  for (const Report& report : {look_at_job(directory.path()), analyse(directory.path())}) {
    // the other one is that a rank has no recording
    EXPECT_EQ(std::count_if(report.flaws.begin(), report.flaws.end(),
                            [&](const Flaw& flaw) { return flaw.file == program; }),
              1);
    const auto& calls = report.unfinished.value().ranks.at(0).calls;
    ASSERT_EQ(calls.size(), 1u);
    EXPECT_EQ(calls[0].call, "MPI_Recv at " + program.filename().string() + "+0x1800");
  }
}

}  // namespace
}  // namespace penstock::analysis
