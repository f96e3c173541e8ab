// Recordings of which the begin is not known: the oldest records were overwritten, or only a window was to be
// recorded. What the report says of the part that is known, and of the rest. Times are ns.
#include <gtest/gtest.h>

#include <algorithm>

#include "analysis/comparison/diff.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/scaling/scaling.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::RecordingBuilder;
using testing::report_on;
using testing::TemporaryDirectory;
using testing::whole_report_on;
using trace::Direction;

/// Runs from 0 to 10,000; half of each 100 in a call, from the first one that is left on.
RecordingBuilder half_in_mpi_from(std::int32_t rank, std::int32_t ranks, std::uint64_t first) {
  RecordingBuilder builder(rank, ranks);
  builder.runs(0, 10'000).kernel(9'999, 10'000);
  builder.header().missing_from_ns = trace::nothing_missing;
  for (std::uint64_t i = first; i < 100; ++i) {
    builder.call(
        {.function = i % 2 == 0 ? "MPI_Recv" : "MPI_Probe", .begin = i * 100 + 50, .end = i * 100 + 100});
  }
  return builder;
}

RecordingBuilder ring(std::int32_t rank, std::int32_t ranks, std::uint64_t first) {
  return half_in_mpi_from(rank, ranks, first).lost_until(first * 100);
}

std::optional<double> figure_of(const Report& report, const char* text) {
  std::string why;
  const std::optional<FailCondition> condition = FailCondition::parse(text, why);
  EXPECT_TRUE(condition) << why;
  return condition->figure(report);
}

TEST(KnownBegin, of_a_job_is_where_the_last_of_its_ranks_is_known_and_all_shares_are_of_what_follows) {
  const Report report = whole_report_on({ring(0, 2, 20), ring(1, 2, 60)});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.recorded_part->from_ns, 6000u);
  EXPECT_EQ(report.recorded_part->last_rank, 1);
  EXPECT_FALSE(report.recorded_part->is_window);
  EXPECT_EQ(report.total_ns, 2u * 4000);
  EXPECT_EQ(report.counted_ns, 2u * (40 * 50 - 1));
  EXPECT_EQ(report.ranks[0].run_ns, 10'000u);
  EXPECT_EQ(report.ranks[0].recorded_from_ns, 2000u);
  EXPECT_EQ(report.ranks[1].recorded_from_ns, 6000u);
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find("! recorded from 6.00 µs on of 10.0 µs, as rank 1 has no earlier records; the rest is "
                      "unknown."),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("of the recorded part ("), std::string::npos) << text;
}

TEST(KnownBegin, leaves_every_condition_undecided_and_gives_no_verdict_and_no_prediction) {
  const Report whole = whole_report_on({half_in_mpi_from(0, 1, 0)});
  const Report late = whole_report_on({ring(0, 1, 20)});
  for (const char* text : {"exposed > 10%", "exposed < 99%", "overlap < 50%"}) {
    EXPECT_TRUE(figure_of(whole, text)) << text;
    EXPECT_FALSE(figure_of(late, text)) << text;
  }
  EXPECT_FALSE(compare({whole}, {late}).is_known);
  EXPECT_NE(why_no_scaling({whole, late}).find("the rest is unknown"), std::string::npos);
}

TEST(KnownBegin, cuts_a_call_in_the_middle_of_which_it_lies) {
  RecordingBuilder builder(0, 1);
  builder.runs(0, 1000).kernel(999, 1000).call({.function = "MPI_Recv", .begin = 100, .end = 600});
  builder.header().missing_from_ns = trace::nothing_missing;
  builder.lost_until(400);
  const Report report = whole_report_on({builder});
  EXPECT_EQ(report.counted_ns, 200u);
}

TEST(KnownBegin, forgets_older_records_that_are_left_of_threads_which_write_few) {
  RecordingBuilder builder = ring(0, 1, 50);
  builder.on_lane(7).call({.function = "MPI_Recv", .begin = 10, .end = 20});
  EXPECT_EQ(whole_report_on({builder}).counted_ns, 50u * 50 - 1);
}

/// Rank 1 sends a message each 100 and rank 0 has them at once, in a call of 60 that it begins before.
std::vector<RecordingBuilder> messages(std::uint64_t senders_first, std::uint64_t receivers_first) {
  std::vector<RecordingBuilder> ranks{RecordingBuilder(0, 2), RecordingBuilder(1, 2)};
  for (RecordingBuilder& each : ranks) {
    each.runs(0, 10'000).kernel(9'999, 10'000);
    each.header().missing_from_ns = trace::nothing_missing;
  }
  for (std::uint64_t i = receivers_first; i < 100; ++i) {
    ranks[0]
        .call({.function = "MPI_Recv", .begin = i * 100 + 20, .end = i * 100 + 80, .peer = 1})
        .half({.direction = Direction::receive, .peer = 1, .post = i * 100 + 20, .complete = i * 100 + 80});
  }
  for (std::uint64_t i = senders_first; i < 100; ++i) {
    ranks[1]
        .call({.function = "MPI_Send", .begin = i * 100 + 70, .end = i * 100 + 75, .peer = 0})
        .half({.direction = Direction::send, .peer = 0, .post = i * 100 + 70, .complete = i * 100 + 75});
  }
  ranks[0].lost_until(receivers_first * 100);
  ranks[1].lost_until(senders_first * 100);
  return ranks;
}

std::uint64_t time_of(const Report& report, Cause cause) {
  return report.by_cause[static_cast<std::size_t>(cause)];
}

TEST(KnownBegin, leaves_messages_joined_by_how_many_of_either_side_are_gone) {
  for (const std::uint64_t senders_first : {10u, 40u, 60u}) {
    std::vector<RecordingBuilder> ranks = messages(senders_first, 40);
    ranks[0].lost_halves(Direction::receive, 1, 40, 39 * 100 + 20);
    ranks[1].lost_halves(Direction::send, 0, senders_first, (senders_first - 1) * 100 + 70);
    const std::uint64_t known = 100 - std::max<std::uint64_t>(senders_first, 40);
    const Report report = whole_report_on(ranks);
    EXPECT_EQ(time_of(report, Cause::late_sender), known * 50) << senders_first;
    EXPECT_EQ(time_of(report, Cause::unattributed), 0u) << senders_first;
    EXPECT_EQ(report.unmatched_halves, 0u);
  }
}

TEST(KnownBegin, leaves_a_message_alone_that_was_posted_before_others_that_are_gone) {
  std::vector<RecordingBuilder> ranks = messages(40, 40);
  // one that was posted behind two that are left: which of these is the 40th, nobody knows
  ranks[0].lost_halves(Direction::receive, 1, 40, 41 * 100 + 20);
  ranks[1].lost_halves(Direction::send, 0, 40, 39 * 100 + 70);
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(time_of(report, Cause::late_sender), 58u * 50);
  EXPECT_EQ(time_of(report, Cause::unattributed), 2u * 60 + 2u * 5) << "on both sides";
  EXPECT_EQ(report.unmatched_halves, 0u);
}

TEST(KnownBegin, of_more_envelopes_than_are_counted_leaves_messages_alone) {
  std::vector<RecordingBuilder> ranks = messages(40, 40);
  ranks[0].lost_halves(Direction::receive, 1, 40, 39 * 100 + 20);
  ranks[1].counts_no_more();
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(time_of(report, Cause::late_sender), 0u);
  EXPECT_EQ(time_of(report, Cause::unattributed), 60u * 60 + 60u * 5);
}

TEST(KnownBegin, after_messages_of_an_envelope_that_is_not_counted_leaves_messages_alone) {
  std::vector<RecordingBuilder> ranks = messages(30, 40);
  ranks[0].lost_halves(Direction::receive, 1, 40, 39 * 100 + 20);
  ranks[1].counts_no_more();  // ten more end before knowledge begins, but nobody knows behind how many
  const Report report = whole_report_on(ranks);
  EXPECT_EQ(time_of(report, Cause::late_sender), 0u);
  EXPECT_EQ(time_of(report, Cause::unattributed), 60u * 60 + 60u * 5);
}

/// Steps of 1000, of which rank 1's begin 100 later; from these on they are there.
RecordingBuilder steps_from(std::int32_t rank, std::uint32_t first, bool are_numbered) {
  RecordingBuilder builder(rank, 2);
  const std::uint64_t late = rank == 1 ? 100 : 0;
  builder.runs(0, 20'000).kernel(19'999, 20'000);
  builder.header().missing_from_ns = trace::nothing_missing;
  for (std::uint32_t step = first; step < 20; ++step) {
    const std::uint64_t begin = step * 1000 - 1000 + late;
    builder.call({.function = "MPI_Allreduce", .begin = begin + 10, .end = begin + 10 + 10 * step});
    if (are_numbered) {
      builder.entered("step", step, begin, begin + 900);
    } else {
      builder.range("step", begin, begin + 900);
    }
  }
  return builder;
}

TEST(KnownBegin, in_the_middle_of_a_step_leaves_it_out_and_all_ranks_begin_with_the_same) {
  // rank 0 is in its 8th step when the last record is lost, and rank 1 at the end of its 7th
  const Report report =
      report_on({steps_from(0, 5, true).lost_until(7'050), steps_from(1, 5, true).lost_until(4'950)}, {});
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->mark, "step");
  EXPECT_EQ(report.steps->each.size(), 11u) << "9 to 19: rank 0 is in its 8th when knowledge begins";
  EXPECT_EQ(report.steps->each.front().by_cause[static_cast<std::size_t>(Cause::unattributed)] +
                report.steps->each.front().by_cause[static_cast<std::size_t>(Cause::wire)] +
                report.steps->each.front().by_cause[static_cast<std::size_t>(Cause::collective_wait)],
            2u * 90)
      << "both ranks' 9th step";
  EXPECT_EQ(to_text(report, {}).find("start-up"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"start_up\": null"), std::string::npos);
}

TEST(KnownBegin, with_steps_without_numbers_begins_with_each_ranks_first_whole_one) {
  const Report report =
      report_on({steps_from(0, 5, false).lost_until(7'050), steps_from(1, 5, false).lost_until(4'950)}, {});
  ASSERT_TRUE(report.steps);
  EXPECT_GE(report.steps->each.size(), 11u);
}

TEST(KnownWindow, that_was_asked_for_is_what_all_figures_are_of_and_can_be_judged) {
  std::vector<RecordingBuilder> ranks{half_in_mpi_from(0, 2, 0), half_in_mpi_from(1, 2, 0)};
  ranks[0].of_window(2000, 8000);
  ranks[1].of_window(2010, 8020);
  const Report report = whole_report_on(ranks);
  ASSERT_TRUE(report.recorded_part);
  EXPECT_TRUE(report.recorded_part->is_window);
  EXPECT_EQ(report.recorded_part->from_ns, 2010u);
  EXPECT_EQ(report.recorded_part->recorded_ns, 8000u);
  EXPECT_EQ(report.total_ns, 6000u + 6010) << "each rank's own";
  EXPECT_EQ(
      recorded_part_text(*report.recorded_part),
      "recorded from 2.01 µs to 8.00 µs of 10.0 µs, the window that was to be recorded; the rest is unknown");
  EXPECT_TRUE(figure_of(report, "exposed > 10%"));
  EXPECT_TRUE(compare({report}, {report}).is_known);
}

TEST(KnownWindow, of_which_records_are_missing_cannot_be_judged) {
  RecordingBuilder overwritten = half_in_mpi_from(0, 1, 0).of_window(2000, 8000).lost_until(3000);
  EXPECT_FALSE(figure_of(whole_report_on({overwritten}), "exposed > 10%"));
  RecordingBuilder dropped = half_in_mpi_from(0, 1, 0).of_window(2000, 8000);
  dropped.header().missing_from_ns -= 1000;
  dropped.header().dropped_records = 1;
  const Report report = whole_report_on({dropped});
  EXPECT_FALSE(figure_of(report, "exposed > 10%"));
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(
      recorded_part_text(*report.recorded_part),
      "recorded from 2.00 µs to 7.00 µs of 10.0 µs, as rank 0 has no earlier records, and to when rank 0 ran "
      "out of space; the rest is unknown");
}

TEST(KnownWindow, that_never_began_has_no_figures_and_says_so) {
  const Report report = whole_report_on({half_in_mpi_from(0, 1, 0).of_window(0, 0)});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.total_ns, 0u);
  EXPECT_NE(to_text(report, {}).find("never began on rank 0"), std::string::npos);
  EXPECT_FALSE(figure_of(report, "exposed > 10%"));
}

TEST(KnownWindow, of_some_ranks_says_that_the_others_were_not_to_be_recorded) {
  RecordingBuilder builder(0, 3);
  builder.header().features |= trace::feature::some_ranks;
  builder.half({.direction = Direction::send, .peer = 1, .post = 10, .complete = 20});
  const Report report = whole_report_on({builder});
  ASSERT_FALSE(report.flaws.empty());
  EXPECT_NE(report.flaws.front().what.find("only some ranks were to be recorded, and not rank 1, 2"),
            std::string::npos)
      << report.flaws.front().what;
  EXPECT_EQ(report.unmatched_halves, 0u);
}

TEST(Unfinished, run_is_compared_with_nothing_and_predicts_nothing) {
  const Report whole = whole_report_on({half_in_mpi_from(0, 1, 0)});
  const Report killed = whole_report_on({half_in_mpi_from(0, 1, 0).of_run(1).never_finishes()});
  ASSERT_TRUE(killed.unfinished);
  const Diff diff = compare({whole}, {killed});
  EXPECT_FALSE(diff.is_known);
  ASSERT_FALSE(diff.remarks.empty());
  EXPECT_NE(diff.remarks.front().find("in a run after, the job did not end: "), std::string::npos)
      << diff.remarks.front();
  const std::string no_scaling = why_no_scaling({whole, killed});
  EXPECT_NE(no_scaling.find("cannot be used: the job did not end: "), std::string::npos) << no_scaling;
  EXPECT_FALSE(no_scaling.ends_with('.')) << "a clause: " << no_scaling;
}

}  // namespace
}  // namespace penstock::analysis
