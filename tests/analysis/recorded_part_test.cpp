// Recordings that lack records, for want of space: what the report says of the part that is known, and of the
// rest. Times are ns.
#include "analysis/recording/recorded_part.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>

#include "analysis/comparison/diff.hpp"
#include "analysis/comparison/diff_text.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"
#include "analysis/report/conclusions/headline.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/scaling/scaling.hpp"
#include "tests/analysis/recording_builder.hpp"
#include "tests/analysis/report_on.hpp"

namespace penstock::analysis {
namespace {

using testing::origin_ns;
using testing::RecordingBuilder;
using testing::report_on;
using testing::TemporaryDirectory;
using testing::whole_report_on;

/// Runs from 0 to 10,000; a kernel at the begin, and half of each 100 in a call, of which `recorded` are
/// there.
RecordingBuilder half_in_mpi_until(std::int32_t rank, std::int32_t ranks, std::uint64_t recorded) {
  RecordingBuilder builder(rank, ranks);
  builder.runs(0, 10'000);
  if (recorded != 0) {
    builder.kernel(0, 1);
  }
  for (std::uint64_t i = 0; i < recorded; ++i) {
    builder.call(
        {.function = i % 2 == 0 ? "MPI_Recv" : "MPI_Probe", .begin = i * 100 + 50, .end = i * 100 + 100});
  }
  if (recorded < 100) {
    builder.header().dropped_records = 100 - recorded;
    builder.header().missing_from_ns = origin_ns + recorded * 100 + 50;
  } else {
    builder.header().missing_from_ns = trace::nothing_missing;
  }
  return builder;
}

TEST(RecordedPart, is_absent_where_nothing_is_missing) {
  const Report report = whole_report_on({half_in_mpi_until(0, 1, 100)});
  EXPECT_FALSE(report.recorded_part);
  EXPECT_EQ(to_text(report, {}).find("recorded up to"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"recorded_part\": null"), std::string::npos);
}

TEST(RecordedPart, of_a_job_ends_where_the_first_rank_has_no_more_space_and_all_shares_are_of_it) {
  const Report report = whole_report_on({half_in_mpi_until(0, 2, 100), half_in_mpi_until(1, 2, 20)});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.recorded_part->recorded_ns, 2050u);
  EXPECT_EQ(report.recorded_part->run_ns, 10'000u);
  EXPECT_EQ(report.recorded_part->first_rank, 1);
  EXPECT_EQ(report.total_ns, 2u * 2050);
  EXPECT_EQ(report.counted_ns, 2u * 20 * 50);
  for (const RankFigures& rank : report.ranks) {
    EXPECT_EQ(rank.run_ns, 10'000u);
    EXPECT_EQ(rank.known_ns, 2050u);
  }
  EXPECT_EQ(report.ranks[0].recorded_ns, 10'000u);
  EXPECT_EQ(report.ranks[1].recorded_ns, 2050u);
  std::uint64_t calls = 0;
  for (const FunctionFigures& each : report.functions) {
    calls += each.calls;
  }
  EXPECT_EQ(calls, 40u);
}

TEST(RecordedPart, is_said_in_the_text_the_json_and_beside_every_share) {
  const Report report = whole_report_on({half_in_mpi_until(0, 1, 20)});
  const std::string text = to_text(report, {});
  EXPECT_NE(
      text.find("! recorded up to 2.05 µs of 10.0 µs, when rank 0 ran out of space; the rest is unknown."),
      std::string::npos)
      << text;
  EXPECT_NE(text.find("of the recorded part ("), std::string::npos) << text;
  EXPECT_NE(text.find("of recorded part"), std::string::npos) << text;
  EXPECT_EQ(text.find("of run"), std::string::npos) << text;
  EXPECT_NE(to_json(report).find("\"words\": \"recorded up to 2.05 µs of 10.0 µs"), std::string::npos);
}

TEST(RecordedPart, holds_whole_steps_only_and_says_nothing_of_the_shutdown) {
  std::vector<RecordingBuilder> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder& builder = ranks.emplace_back(half_in_mpi_until(rank, 2, rank == 0 ? 100 : 41));
    for (std::uint64_t step = 0; step < (rank == 0 ? 20u : 9u); ++step) {
      builder.range("step", step * 500, step * 500 + 500);
    }
  }
  const Report report = report_on(ranks, {.step_range = "step"});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.recorded_part->recorded_ns, 4150u);
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 8u);
  EXPECT_EQ(report.total_ns, 2u * 4000);
  EXPECT_EQ(report.counted_ns, 2u * 2000);
  EXPECT_EQ(to_text(report, {}).find("shutdown"), std::string::npos);
  EXPECT_NE(to_json(report).find("\"shutdown\": null"), std::string::npos);
}

TEST(RecordedPart, has_its_steps_found_although_ranks_lack_different_numbers_of_them) {
  std::vector<RecordingBuilder> ranks;
  for (std::int32_t rank = 0; rank < 2; ++rank) {
    RecordingBuilder& builder = ranks.emplace_back(rank, 2);
    builder.runs(0, 10'000).kernel(0, 1);
    const std::uint64_t recorded = rank == 0 ? 80 : 20;
    for (std::uint64_t i = 0; i < recorded; ++i) {
      builder.call({.function = "MPI_Recv", .begin = i * 100 + 50, .end = i * 100 + 100, .call_site = 0x20});
    }
    builder.header().dropped_records = 1;
    builder.header().missing_from_ns = origin_ns + recorded * 100 + 50;
  }
  const Report report = report_on(ranks);
  ASSERT_TRUE(report.steps);
  EXPECT_EQ(report.steps->each.size(), 19u);
}

/// A rank's file with so many of its blocks, and ten records of the next one.
void cut_off(const std::filesystem::path& file, std::size_t blocks) {
  std::filesystem::resize_file(
      file, trace::file_header_bytes + blocks * trace::block_bytes + 11 * trace::record_bytes);
}

/// Runs from 0 to 4,000,000, in MPI for half of each 100. Another thread made some calls at the begin, by a
/// path whose addresses are larger than all times.
RecordingBuilder half_in_mpi_by_two_threads(std::int32_t rank, std::int32_t ranks) {
  RecordingBuilder builder(rank, ranks);
  const std::uint64_t site = builder.path({0x7fff'0000'1000, 0x7fff'0000'2000});
  builder.runs(0, 4'000'000)
      .kernel(0, 1)
      .call({.function = "MPI_Probe", .begin = 2, .end = 4, .call_site = site})
      .on_lane(1);
  for (std::uint64_t i = 0; i < 40'000; ++i) {
    builder.call({.function = "MPI_Recv", .begin = i * 100 + 50, .end = i * 100 + 100});
  }
  return builder;
}

TEST(RecordedPart, of_a_file_that_is_cut_off_ends_where_a_thread_may_have_gone_on) {
  for (const trace::BlockCoding coding : {trace::BlockCoding::plain, trace::BlockCoding::delta}) {
    const TemporaryDirectory directory;
    half_in_mpi_by_two_threads(0, 2).write(directory.path());
    RecordingBuilder other = half_in_mpi_by_two_threads(1, 2);
    cut_off(other.coded(coding).write(directory.path()), 2);
    const Report report = analyse(directory.path(), {.whole_run = true});
    ASSERT_TRUE(report.recorded_part);
    EXPECT_GT(report.recorded_part->recorded_ns, 100'000u);
    EXPECT_LT(report.recorded_part->recorded_ns, 3'990'000u);
    EXPECT_NEAR(static_cast<double>(report.counted_ns) / static_cast<double>(report.total_ns), 0.5, 0.001);
    EXPECT_EQ(report.ranks[0].total_ns, report.ranks[1].total_ns);
    const std::string text = to_text(report, {});
    EXPECT_LT(text.find("cut off; what stands before it was used"), text.find("% of the recorded part"));
    EXPECT_EQ(text.find("cut off"), text.rfind("cut off")) << text;
  }
}

TEST(RecordedPart, is_nothing_of_a_file_that_is_cut_off_in_its_first_block) {
  const TemporaryDirectory directory;
  half_in_mpi_by_two_threads(0, 2).write(directory.path());
  cut_off(half_in_mpi_by_two_threads(1, 2).write(directory.path()), 0);
  const Report report = analyse(directory.path(), {.whole_run = true});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_LT(report.recorded_part->recorded_ns, 1000u);
}

void expect_nothing_is_decided(const Report& report, const std::string& why_it_is) {
  const Report whole = whole_report_on({half_in_mpi_until(0, 2, 100), half_in_mpi_until(1, 2, 100)});
  for (const char* text : {"exposed > 10%", "exposed < 90%", "overlap < 50%", "late_sender > 1ms"}) {
    std::string why;
    const std::optional<FailCondition> condition = FailCondition::parse(text, why);
    ASSERT_TRUE(condition) << why;
    EXPECT_FALSE(condition->figure(report)) << text;
    EXPECT_NE(condition->why_unknown(report).find(why_it_is), std::string::npos);
  }
  const Diff diff = compare({whole}, {report});
  EXPECT_FALSE(diff.is_known);
  EXPECT_NE(to_text(diff, false, 8).find(why_it_is), std::string::npos) << to_text(diff, false, 8);
  EXPECT_NE(to_json(report).find("\"loses_records\": true"), std::string::npos);
}

TEST(LostRecords, of_a_file_that_is_cut_off_or_damaged_leave_everything_undecided) {
  const TemporaryDirectory directory;
  half_in_mpi_by_two_threads(0, 2).write(directory.path());
  const std::filesystem::path file = half_in_mpi_by_two_threads(1, 2).write(directory.path());
  std::vector<std::byte> zeros(trace::record_bytes);
  std::fstream(file, std::ios::in | std::ios::out | std::ios::binary)
      .seekp(static_cast<std::streamoff>(trace::file_header_bytes + trace::block_bytes +
                                         20 * trace::record_bytes))
      .write(reinterpret_cast<const char*>(zeros.data()), static_cast<std::streamsize>(zeros.size()));
  expect_nothing_is_decided(analyse(directory.path(), {.whole_run = true}), "wiped out");
  cut_off(file, 1);
  expect_nothing_is_decided(analyse(directory.path(), {.whole_run = true}), "cut off");
}

TEST(LostRecords, of_a_rank_without_a_recording_leave_everything_undecided) {
  const Report report = whole_report_on({half_in_mpi_until(0, 2, 100)});
  expect_nothing_is_decided(report, "no recording of rank 1");
}

TEST(LostRecords, are_none_where_one_rank_or_some_ranks_alone_were_asked_for) {
  const TemporaryDirectory directory;
  const std::filesystem::path file = half_in_mpi_until(0, 2, 100).write(directory.path());
  EXPECT_EQ(what_is_missing(analyse(file, {.whole_run = true})), "");
  RecordingBuilder some = half_in_mpi_until(0, 2, 100);
  some.header().features |= trace::feature::some_ranks;
  EXPECT_EQ(what_is_missing(whole_report_on({some})), "");
}

TEST(RecordedPart, leaves_every_condition_undecided) {
  const Report report = whole_report_on({half_in_mpi_until(0, 1, 20)});
  for (const char* text : {"exposed > 10%", "exposed < 90%", "overlap < 50%", "late_sender > 1ms"}) {
    std::string why;
    const std::optional<FailCondition> condition = FailCondition::parse(text, why);
    ASSERT_TRUE(condition) << why;
    EXPECT_FALSE(condition->figure(report)) << text;
    EXPECT_NE(condition->why_unknown(report).find("the rest is unknown"), std::string::npos);
  }
}

TEST(RecordedPart, gives_a_comparison_no_verdict_and_a_prediction_no_ground) {
  const Report whole = whole_report_on({half_in_mpi_until(0, 1, 100)});
  const Report cut = whole_report_on({half_in_mpi_until(0, 1, 20).of_run(2)});
  const Report other = whole_report_on({half_in_mpi_until(0, 1, 100).of_run(1)});
  const Diff diff = compare({whole, whole, whole}, {other, cut, other});
  EXPECT_FALSE(diff.is_known);
  for (const DiffRow& row : diff.totals) {
    EXPECT_EQ(row.verdict, Verdict::unknown) << row.name;
  }
  ASSERT_EQ(diff.remarks.size(), 1u);
  EXPECT_NE(diff.remarks[0].find("a run after was recorded up to"), std::string::npos) << diff.remarks[0];
  EXPECT_NE(to_text(diff, false, 8).find("Whether that is a change is unknown"), std::string::npos);
  EXPECT_TRUE(compare({whole}, {whole}).is_known);
  EXPECT_NE(why_no_scaling({whole, cut}).find("the rest is unknown"), std::string::npos);
}

TEST(RecordedPart, of_a_job_that_used_no_gpu_as_far_as_is_recorded_does_not_say_that_it_used_none) {
  RecordingBuilder builder(0, 1);
  builder.header().features = 0;
  EXPECT_EQ(report_on({builder}).why_not_exposed, "the program used no GPU");
  builder.header().dropped_records = 1;
  builder.header().missing_from_ns = origin_ns + 500;
  EXPECT_EQ(report_on({builder}).why_not_exposed, "no use of a GPU is recorded, but records are missing");
}

TEST(RecordedPart, that_is_empty_has_no_share) {
  RecordingBuilder builder = half_in_mpi_until(0, 1, 0);
  builder.header().missing_from_ns = origin_ns;
  const std::string text = to_text(whole_report_on({builder}), {});
  EXPECT_NE(text.find("! recorded up to 0.00 µs of 10.0 µs"), std::string::npos) << text;
  EXPECT_NE(text.find("No figures: the "), std::string::npos) << text;
  EXPECT_EQ(text.find("0.0 % of the recorded"), std::string::npos) << text;
  EXPECT_EQ(text.find("0.0 %\n"), std::string::npos) << text;
}

TEST(RecordedPart, without_a_record_has_neither_share_nor_advice_but_a_reason) {
  const Report report = whole_report_on({half_in_mpi_until(0, 2, 0), half_in_mpi_until(1, 2, 0)});
  ASSERT_TRUE(report.recorded_part);
  const std::string text = to_text(report, {});
  EXPECT_NE(text.find("No figures: the run is not known, as no rank has a record from before the first one"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("host code"), std::string::npos) << text;
  EXPECT_EQ(text.find(" 0.000"), std::string::npos) << "what is not known is no zero: " << text;
  EXPECT_EQ(text.find("100.0 %"), std::string::npos) << text;
  EXPECT_TRUE(report.advice.empty());
  EXPECT_FALSE(report.parts);
  EXPECT_FALSE(report.replay);
}

TEST(RecordedPart, of_a_window_that_never_began_says_so_instead_of_a_share) {
  Report report = whole_report_on({half_in_mpi_until(0, 1, 0)});
  report.recorded_part->awaiting_rank = 1;
  EXPECT_EQ(headline_of(report).text,
            "No figures: the run is not known, as the window to be recorded never began on rank 1.");
}

TEST(RecordedPart, of_a_killed_job_is_no_whole_run_although_it_ends_with_the_last_record) {
  RecordingBuilder builder = half_in_mpi_until(0, 1, 20);
  builder.never_finishes();
  const Report report = whole_report_on({builder});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(recorded_part_text(*report.recorded_part),
            "recorded up to 2.00 µs of at least 2.00 µs, when rank 0 ran out of space; the rest is "
            "unknown");
}

TEST(RecordedPart, is_the_whole_run_where_only_what_came_after_it_was_dropped) {
  RecordingBuilder builder = half_in_mpi_until(0, 1, 100);
  builder.header().dropped_records = 3;
  builder.header().missing_from_ns = origin_ns + 10'000;
  EXPECT_FALSE(whole_report_on({builder}).recorded_part);
}

TEST(RecordedPart, on_two_hosts_ends_at_the_same_time_since_their_begin) {
  std::vector<RecordedRank> ranks{
      {"a", 1000, {0, 5000}}, {"a", 1010, {0, 4000}}, {"b", 90'000, {0, trace::nothing_missing}}};
  EXPECT_EQ(known_times(ranks), (std::vector<KnownTime>{{0, 4000}, {0, 4000}, {0, 93'000}}));
  ranks[1].own = ranks[0].own = {};
  EXPECT_EQ(known_times(ranks), std::vector<KnownTime>(3));
}

/// As recorders wrote them that did not tell from when on records were missing.
TEST(RecordedPart, of_an_older_recording_ends_with_the_first_lane_whose_last_block_is_full) {
  constexpr std::uint64_t records_per_block = trace::block_bytes / trace::record_bytes - 1;
  const TemporaryDirectory directory;
  RecordingBuilder builder(0, 1);
  builder.runs(0, 1'000'000).kernel(7, 8);
  static_cast<void>(builder.text("MPI_Recv"));
  builder.on_lane(1);
  for (std::uint64_t i = 0; i < records_per_block; ++i) {
    builder.call({.function = "MPI_Recv", .begin = i * 10, .end = i * 10 + 5});
  }
  builder.on_lane(2).call({.function = "MPI_Recv", .begin = 900'000, .end = 900'010});
  EXPECT_FALSE(whole_report_on({builder}).recorded_part) << "nothing was dropped";
  builder.header().dropped_records = 10;
  const Report report = whole_report_on({builder});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.recorded_part->recorded_ns, (records_per_block - 1) * 10 + 5);
}

TEST(RecordedPart, of_an_older_recording_without_kernels_that_should_have_some_is_empty) {
  RecordingBuilder builder(0, 1);
  builder.call({.function = "MPI_Recv", .begin = 10, .end = 20});
  builder.header().dropped_records = 10;
  const Report report = whole_report_on({builder});
  ASSERT_TRUE(report.recorded_part);
  EXPECT_EQ(report.recorded_part->recorded_ns, 0u);
}

}  // namespace
}  // namespace penstock::analysis
