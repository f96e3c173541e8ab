// Tests by how much runs differ without a change, in histories that are made up.
#include "analysis/comparison/run_spread.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace penstock::analysis {
namespace {

/// The changes of a history: the time of each run, and by how much its steps let it vary. Unit: ns.
std::vector<Diff> history_of(const std::vector<double>& times_ns, double margin_ns = 1) {
  std::vector<Diff> changes;
  for (std::size_t i = 1; i < times_ns.size(); ++i) {
    DiffRow row{"step", times_ns[i - 1], times_ns[i], margin_ns, Verdict::unknown};
    row.verdict = verdict_on(row);
    Diff& change = changes.emplace_back();
    change.is_by_step = true;
    change.before.program = change.after.program = "/home/me/solver --steps 10";
    change.before.world_size = change.after.world_size = 2;
    change.totals = {row};
  }
  return changes;
}

std::vector<Verdict> verdicts_on(std::vector<Diff> changes) {
  widen_by_runs(changes);
  std::vector<Verdict> verdicts;
  for (const Diff& each : changes) {
    verdicts.push_back(each.totals.front().verdict);
  }
  return verdicts;
}

constexpr Verdict more = Verdict::more;
constexpr Verdict jitter = Verdict::jitter;

TEST(RunSpread, runs_that_differ_all_the_time_show_no_change_however_steady_their_steps_are) {
  EXPECT_EQ(verdicts_on(history_of({1000, 463, 822, 800})), std::vector(3, jitter));
  EXPECT_EQ(verdicts_on(history_of({1075, 1655, 926, 1252, 953, 985})), std::vector(5, jitter));
}

TEST(RunSpread, a_change_beyond_it_is_marked_wherever_it_is_in_the_history) {
  EXPECT_EQ(verdicts_on(history_of({1000, 1004, 998, 1300})), (std::vector{jitter, jitter, more}));
  EXPECT_EQ(verdicts_on(history_of({1000, 1300, 1304, 1298})), (std::vector{more, jitter, jitter}));
}

TEST(RunSpread, changes_are_no_jitter_of_the_others) {
  // by the median of all others the last one would be 100 against 3.8 times 100
  EXPECT_EQ(verdicts_on(history_of({1000, 1003, 1203, 1206, 1406, 1409, 1412, 1512, 1612, 1615, 1645})),
            (std::vector{jitter, more, jitter, more, jitter, jitter, more, more, jitter, more}));
}

TEST(RunSpread, the_larger_of_both_variations_decides) {
  std::vector<Diff> changes = history_of({1000, 1002, 998, 1100}, 200);
  widen_by_runs(changes);
  const DiffRow& newest = changes.back().totals.front();
  EXPECT_EQ(newest.verdict, jitter);
  EXPECT_EQ(newest.margin_ns, 200.0);
  ASSERT_TRUE(newest.runs_margin_ns);
  // the mean of 2 and 4, times Student's t for two of them, over what the median is of a standard deviation
  EXPECT_NEAR(*newest.runs_margin_ns, 3 * 4.303 / 0.6745, 1e-9);
  EXPECT_EQ(changes.back().other_pairs, 2U);
}

TEST(RunSpread, with_fewer_than_three_earlier_runs_the_steps_decide) {
  std::vector<Diff> changes = history_of({1000, 1300, 1000});
  widen_by_runs(changes);
  EXPECT_EQ(changes[0].totals.front().verdict, more);
  EXPECT_EQ(changes[1].totals.front().verdict, Verdict::less);
  EXPECT_EQ(changes[1].other_pairs, 0U);
  EXPECT_FALSE(changes[1].totals.front().runs_margin_ns);
  EXPECT_EQ(changes[1].totals.front().margin_ns, 1.0);
  std::vector<Diff> none;
  widen_by_runs(none);
}

TEST(RunSpread, runs_of_other_programs_and_those_that_lack_records_tell_nothing) {
  const std::vector<double> times_ns{1000, 1300, 1000, 1300, 1000, 1300};
  std::vector<Diff> other = history_of(times_ns);
  for (std::size_t i = 0; i < 4; ++i) {
    other[i].before.world_size = 4;
    other[i].after.world_size = i == 3 ? 2 : 4;  // the fourth one changes the number of ranks
  }
  widen_by_runs(other);
  EXPECT_EQ(other[4].other_pairs, 0U);
  EXPECT_EQ(other[4].totals.front().verdict, more);
  EXPECT_EQ(other[0].other_pairs, 2U);
  EXPECT_EQ(other[0].totals.front().verdict, jitter);
  EXPECT_EQ(other[3].other_pairs, 4U) << "those of either program";

  std::vector<Diff> cut = history_of(times_ns);
  for (std::size_t i = 0; i < 4; ++i) {
    cut[i].is_known = false;
    cut[i].totals.front() = {"step", 1000, 1300, std::nullopt, Verdict::unknown};
  }
  EXPECT_EQ(verdicts_on(cut),
            (std::vector{Verdict::unknown, Verdict::unknown, Verdict::unknown, Verdict::unknown, more}));
}

TEST(RunSpread, a_folder_of_the_program_makes_no_other_program) {
  std::vector<Diff> changes = history_of({1000, 1300, 1000, 1300});
  changes[2].after.program = "/scratch/build-42/solver --steps 10";
  widen_by_runs(changes);
  EXPECT_EQ(changes[2].other_pairs, 2U);
}

TEST(RunSpread, runs_without_steps_are_judged_by_other_runs_alone) {
  std::vector<Diff> changes = history_of({1000, 1004, 998, 1300});
  for (Diff& each : changes) {
    each.is_by_step = false;
    each.totals.front().margin_ns.reset();
    each.totals.front().verdict = Verdict::unknown;
  }
  EXPECT_EQ(verdicts_on(changes), (std::vector{jitter, jitter, more}));
}

TEST(RunSpread, a_part_that_two_runs_lack_did_not_change_between_them_but_parts_that_are_not_known_may_have) {
  std::vector<Diff> changes = history_of({1000, 1000, 1000, 1000});
  const DiffRow kernels{"kernels", 500, 500, 1.0, jitter};
  for (Diff& each : changes) {
    each.parts = {kernels};
  }
  changes.back().parts.push_back({"wire", 0, 100, 1.0, more});
  std::vector<Diff> blind = changes;
  widen_by_runs(changes);
  EXPECT_EQ(changes.back().parts.back().runs_margin_ns, 0.0);
  EXPECT_EQ(changes.back().parts.back().verdict, more);
  blind.front().parts.clear();
  widen_by_runs(blind);
  EXPECT_FALSE(blind.back().parts.back().runs_margin_ns);
}

TEST(RunSpread, runs_that_are_no_neighbours_vary_as_neighbours_do) {
  DiffRow newest{"step", 1000, 1001, 50.0, jitter, 50.0};
  DiffRow since_first{"step", 960, 1001, 1.0, more};
  widen_as(since_first, newest);
  EXPECT_EQ(since_first.verdict, jitter);
  EXPECT_EQ(since_first.margin_ns, 50.0);
  newest.runs_margin_ns.reset();
  DiffRow alone{"step", 960, 1001, 1.0, more};
  widen_as(alone, newest);
  EXPECT_EQ(alone.verdict, more);
}

}  // namespace
}  // namespace penstock::analysis
