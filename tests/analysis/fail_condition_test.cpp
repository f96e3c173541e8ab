#include "analysis/report/conclusions/fail_condition.hpp"

#include <gtest/gtest.h>

namespace penstock::analysis {
namespace {

Report quarter_exposed() {
  Report report;
  report.counted_ranks = 2;
  report.total_ns = 2'000'000'000;
  report.counted_ns = 500'000'000;
  report.by_cause[static_cast<std::size_t>(Cause::late_sender)] = 100'000'000;
  RankFigures rank;
  rank.is_counted = true;
  rank.communication_ns = 400;
  rank.hidden_ns = 100;
  report.ranks = {rank};
  report.parts.emplace();
  (*report.parts)[static_cast<std::size_t>(TimePart::kernels)] = 900'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::late_sender)] = 100'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::wire)] = 400'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::staging_by_hand)] = 200'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::host_code)] = 400'000'000;
  report.steps.emplace().each.resize(50);
  ReplayFigures replay;
  replay.efficiency.parallel = 0.75;
  replay.gpu_efficiency.emplace().orchestration = 0.5;
  report.replay = replay;
  return report;
}

FailCondition condition(std::string_view text) {
  std::string why;
  const std::optional<FailCondition> parsed = FailCondition::parse(text, why);
  EXPECT_TRUE(parsed) << why;
  return parsed.value_or(FailCondition{});
}

bool holds(std::string_view text) {
  const FailCondition asked = condition(text);
  return asked.holds(asked.figure(quarter_exposed()).value_or(-1));
}

TEST(FailCondition, of_a_cause_cannot_be_told_where_it_hangs_on_the_hosts_clocks) {
  Report report = quarter_exposed();
  report.by_cause[static_cast<std::size_t>(Cause::wire)] = 400'000'000;
  report.within_error[static_cast<std::size_t>(Cause::late_sender)] = 60'000'000;
  report.within_error[static_cast<std::size_t>(Cause::wire)] = 60'000'000;
  // late_sender: 20 to 80 ms of the average rank
  EXPECT_FALSE(condition("late_sender > 50ms").figure(report));
  EXPECT_FALSE(condition("late_sender > 70ms").figure(report));
  EXPECT_EQ(condition("late_sender > 70ms").why_unknown(report),
            "it is within the error of the hosts' clocks");
  EXPECT_EQ(condition("late_sender > 90ms").figure(report), 50.0);
  EXPECT_EQ(condition("late_sender > 10ms").figure(report), 50.0);
  EXPECT_TRUE(condition("exposed > 50ms").figure(report));
}

TEST(FailCondition, cannot_be_told_where_kernels_that_were_lost_would_decide_it) {
  Report report = quarter_exposed();
  report.ranks[0].dropped_gpu_records = 3;
  EXPECT_FALSE(condition("exposed > 10%").figure(report));
  EXPECT_EQ(condition("exposed > 10%").why_unknown(report), "records of the GPU were lost");
  EXPECT_EQ(condition("exposed > 30%").figure(report), 25.0) << "it can only be less";
  EXPECT_FALSE(condition("exposed < 20%").figure(report));
  EXPECT_FALSE(condition("overlap < 30%").figure(report));
  EXPECT_EQ(condition("overlap < 20%").figure(report), 25.0) << "it can only be more";
}

TEST(FailCondition, compares_shares_and_times_of_the_average_rank) {
  EXPECT_TRUE(holds("exposed > 10%"));
  EXPECT_TRUE(holds("exposed>=25 %"));
  EXPECT_FALSE(holds("exposed > 25%"));
  EXPECT_TRUE(holds("exposed > 249ms"));
  EXPECT_FALSE(holds("exposed > 0.25 s"));
  EXPECT_TRUE(holds("late_sender >= 50000us"));
  EXPECT_TRUE(holds(" late sender > 4.9 % "));
  EXPECT_TRUE(holds("late-sender <= 5 %"));
  EXPECT_TRUE(holds("wire >= 20%"));
  EXPECT_FALSE(holds("wire > 20%"));
  EXPECT_FALSE(holds("gpu_not_ready > 0%"));
  EXPECT_TRUE(holds("overlap < 30%"));
}

TEST(FailCondition, leaves_files_out_of_exposed_as_the_table_of_parts_does) {
  Report report = quarter_exposed();
  report.counted_ns += 300'000'000;
  report.by_cause[static_cast<std::size_t>(Cause::unattributed)] = 300'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::mpi_files)] = 300'000'000;
  (*report.parts)[static_cast<std::size_t>(TimePart::host_code)] -= 300'000'000;
  EXPECT_EQ(condition("exposed > 10%").figure(report), 25.0);
  EXPECT_EQ(condition("unattributed > 1%").figure(report), 0.0);
  EXPECT_EQ(condition("mpi files > 1%").figure(report), 15.0);
}

TEST(FailCondition, knows_each_part_of_the_time) {
  EXPECT_TRUE(holds("host code > 19.9%"));
  EXPECT_FALSE(holds("host code > 20%"));
  EXPECT_TRUE(holds("host-code >= 200ms"));
  EXPECT_TRUE(holds("staging > 5%"));
  EXPECT_TRUE(holds("staging_by_hand <= 10%"));
  EXPECT_TRUE(holds("kernels < 50%"));
  EXPECT_FALSE(holds("other copies > 0%"));
  Report report = quarter_exposed();
  report.parts.reset();
  report.why_not_exposed = "no kernels";
  EXPECT_FALSE(condition("host code > 10%").figure(report));
  EXPECT_EQ(condition("host code > 10%").why_unknown(report), "no kernels");
}

TEST(FailCondition, knows_the_time_of_a_step) {
  EXPECT_EQ(condition("step > 12ms").figure(quarter_exposed()), 20.0);
  EXPECT_TRUE(holds("step > 12ms"));
  EXPECT_FALSE(holds("step > 0.03 s"));
  Report report = quarter_exposed();
  report.measure = Measure::communication_time;  // it needs no kernels
  report.ranks[0].dropped_gpu_records = 3;
  EXPECT_EQ(condition("step > 12ms").figure(report), 20.0);
  report.steps.reset();
  EXPECT_FALSE(condition("step > 12ms").figure(report));
  EXPECT_EQ(condition("step > 12ms").why_unknown(report), "no steps were found");
}

TEST(FailCondition, knows_efficiencies) {
  EXPECT_EQ(condition("parallel efficiency < 80%").figure(quarter_exposed()), 75.0);
  EXPECT_EQ(condition("gpu orchestration < 80%").figure(quarter_exposed()), 50.0);
  Report report = quarter_exposed();
  report.replay.reset();
  report.why_no_replay = "it is too large";
  EXPECT_FALSE(condition("parallel efficiency < 80%").figure(report));
  EXPECT_EQ(condition("parallel efficiency < 80%").why_unknown(report), "it is too large");
}

TEST(FailCondition, of_a_part_cannot_be_told_where_launches_that_were_not_recorded_would_decide_it) {
  Report report = quarter_exposed();
  report.ranks[0].kernels_known = true;
  report.ranks[0].launches_known = false;
  EXPECT_FALSE(condition("kernel launch > 5%").figure(report)) << "what counts as host code may be launches";
  EXPECT_EQ(condition("kernel launch > 5%").why_unknown(report),
            "when kernels were launched was not recorded");
  EXPECT_FALSE(condition("host code > 10%").figure(report));
  EXPECT_EQ(condition("host code > 30%").figure(report), 20.0) << "it can only be less";
  EXPECT_EQ(condition("kernels > 30%").figure(report), 45.0);
}

TEST(FailCondition, of_a_part_cannot_be_told_where_records_that_were_lost_would_decide_it) {
  Report report = quarter_exposed();
  report.ranks[0].dropped_gpu_records = 3;
  EXPECT_FALSE(condition("host code > 10%").figure(report)) << "kernels may have run meanwhile";
  EXPECT_EQ(condition("host code > 30%").figure(report), 20.0);
  EXPECT_FALSE(condition("staging > 20%").figure(report)) << "copies may be missing";
  EXPECT_FALSE(condition("kernel launch > 5%").figure(report)) << "launches of kernels may be missing";
  EXPECT_EQ(condition("kernels > 30%").figure(report), 45.0) << "it can only be more";
  EXPECT_FALSE(condition("kernels < 50%").figure(report));
}

TEST(FailCondition, of_a_change_has_no_figure_of_one_report) {
  const FailCondition asked = condition("step > +5%");
  EXPECT_TRUE(asked.is_of_change());
  EXPECT_FALSE(asked.figure(quarter_exposed()));
  EXPECT_EQ(asked.describe(7.25), "step changed by +7.25 %; it fails if > +5 %");
}

TEST(FailCondition, says_the_figure) {
  const FailCondition asked = condition("exposed > 10%");
  EXPECT_EQ(asked.describe(asked.figure(quarter_exposed()).value_or(0)),
            "exposed is 25 %; it fails if > 10 %");
}

TEST(FailCondition, what_is_not_known_is_no_figure) {
  Report report = quarter_exposed();
  report.measure = Measure::communication_time;
  EXPECT_EQ(condition("exposed > 10%").figure(report), std::nullopt);
  EXPECT_EQ(condition("exposed > 10%").figure(Report{}), std::nullopt);
}

TEST(FailCondition, of_overlap_without_communication_says_that_there_was_none) {
  Report report = quarter_exposed();
  report.ranks[0].communication_ns = report.ranks[0].hidden_ns = 0;
  EXPECT_EQ(condition("overlap < 50%").figure(report), std::nullopt);
  EXPECT_EQ(condition("overlap < 50%").why_unknown(report), "there was no communication");
}

TEST(FailCondition, of_a_step_says_why_there_are_no_steps) {
  Report report = quarter_exposed();
  report.steps.reset();
  EXPECT_EQ(condition("step > 1ms").why_unknown(report), "no steps were found");
  report.is_whole_run = true;
  EXPECT_EQ(condition("step > 1ms").why_unknown(report), "the whole run is counted, not its steps");
}

TEST(FailCondition, of_steps_that_were_not_recorded_cannot_be_told) {
  Report report = quarter_exposed();
  report.missing_step = "sweep";
  EXPECT_EQ(condition("exposed > 10%").figure(report), std::nullopt);
  EXPECT_EQ(condition("exposed > 10%").why_unknown(report), "no NVTX range \"sweep\" was recorded");
}

TEST(FailCondition, that_cannot_be_read_is_refused_with_what_is_allowed) {
  const auto refusal = [](std::string_view text) {
    std::string why;
    EXPECT_FALSE(FailCondition::parse(text, why)) << text;
    return why;
  };
  EXPECT_NE(refusal("exposed").find("write for example"), std::string::npos);
  const std::string figures = refusal("slowness > 3%");
  for (const char* figure : {"step", "exposed", "overlap", "late_sender", "host_code", "staging_by_hand",
                             "parallel_efficiency", "gpu_orchestration"}) {
    EXPECT_NE(figures.find(figure), std::string::npos) << figure;
  }
  EXPECT_EQ(figures.find('\n'), std::string::npos);
  EXPECT_NE(refusal("step > 3%").find("s, ms or us (or +5% against an earlier run)"), std::string::npos);
  EXPECT_NE(refusal("parallel efficiency < 3ms").find("a number and %"), std::string::npos);
  EXPECT_NE(refusal("overlap < +3%").find("only times are"), std::string::npos);
  EXPECT_NE(refusal("step > +").find("a number and %, s, ms or us"), std::string::npos);
  EXPECT_NE(refusal("step > ++5%").find("a number"), std::string::npos);
  EXPECT_NE(refusal("exposed > ten %").find("%, s, ms or us"), std::string::npos);
  EXPECT_NE(refusal("exposed > 10").find("%, s, ms or us"), std::string::npos);
  EXPECT_NE(refusal("exposed > 10 parsecs").find("%, s, ms or us"), std::string::npos);
  EXPECT_NE(refusal("exposed > -1 %").find("a number"), std::string::npos);
  EXPECT_NE(refusal("exposed > nan %").find("a number"), std::string::npos);
  EXPECT_NE(refusal("overlap < 3 s").find("a number and %"), std::string::npos);
  EXPECT_NE(refusal("").find("has no comparison"), std::string::npos);
  EXPECT_NE(refusal(">").find("is not a figure"), std::string::npos);
}

TEST(FailCondition, of_a_change_says_where_jitter_hides_one_of_its_limit) {
  const auto condition = [](std::string_view text) {
    std::string why;
    return FailCondition::parse(text, why).value();
  };
  EXPECT_TRUE(condition("step > +5%").is_hidden_by(40.5));
  EXPECT_FALSE(condition("step > +5%").is_hidden_by(5));
  EXPECT_FALSE(condition("step > +0%").is_hidden_by(5)) << "any change is asked for";
  EXPECT_FALSE(condition("step < +5%").is_hidden_by(40.5));
  EXPECT_FALSE(condition("exposed > 5%").is_hidden_by(40.5));
  EXPECT_EQ(condition("host code > +5%").describe_hidden(40.5),
            "host_code may differ by 40.5 % without a change, so that one of 5 % could not be seen");
}

}  // namespace
}  // namespace penstock::analysis
