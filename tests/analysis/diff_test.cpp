// Comparisons whose answer is known. Times are ns.
#include "analysis/comparison/diff.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string_view>

#include "analysis/comparison/baseline.hpp"
#include "analysis/comparison/diff_text.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/tables/confidence.hpp"
#include "tests/analysis/recording_builder.hpp"

namespace penstock::analysis {
namespace {

/// A run of one rank, whole: so long, of which so much is exposed wire at one place.
Report run(std::uint64_t total_ns, std::uint64_t exposed_ns, const char* function = "exchange") {
  Report report;
  report.counted_ranks = 1;
  report.world_size = 1;
  report.total_ns = total_ns;
  report.counted_ns = exposed_ns;
  report.by_cause[static_cast<std::size_t>(Cause::wire)] = exposed_ns;
  RankFigures rank;
  rank.is_counted = rank.kernels_known = true;
  rank.total_ns = total_ns;
  rank.exposed_ns = rank.host_ns = exposed_ns;
  report.ranks = {rank};
  CallSiteFigures site;
  site.mpi_function = "MPI_Waitall";
  site.function = function;
  site.counted_ns = exposed_ns;
  report.call_sites = {site};
  report.parts.emplace();
  (*report.parts)[static_cast<std::size_t>(TimePart::wire)] = exposed_ns;
  (*report.parts)[static_cast<std::size_t>(TimePart::host_code)] = total_ns - exposed_ns;
  return report;
}

/// A run of one rank with steps of these lengths, half of each exposed.
Report stepped(const std::vector<std::uint64_t>& lengths_ns) {
  std::uint64_t total_ns = 0;
  StepsFigures steps;
  steps.mark = "step";
  for (const std::uint64_t each : lengths_ns) {
    StepFigures step;
    step.total_ns = step.longest_ns = each;
    step.by_cause[static_cast<std::size_t>(Cause::wire)] = each / 2;
    step.parts.emplace();
    (*step.parts)[static_cast<std::size_t>(TimePart::wire)] = each / 2;
    (*step.parts)[static_cast<std::size_t>(TimePart::host_code)] = each - each / 2;
    steps.each.push_back(step);
    total_ns += each;
  }
  Report report = run(total_ns, total_ns / 2);
  report.steps = steps;
  return report;
}

const DiffRow& row(const std::vector<DiffRow>& rows, std::string_view name) {
  static const DiffRow none;
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const DiffRow& each) { return each.name == name; });
  EXPECT_NE(found, rows.end()) << name;
  return found == rows.end() ? none : *found;
}

TEST(Confidence, margin_is_that_of_welch) {
  // by hand: standard error of the difference 1.00310, 11.007 degrees of freedom, whose t is 2.201
  const std::vector<double> left{17.2, 20.9, 22.6, 18.1, 21.7, 21.4, 23.5, 24.2, 14.7, 21.8};
  const std::vector<double> right{21.5, 22.8, 21.0, 23.0, 21.6, 23.6, 22.5, 20.7, 23.4, 21.8};
  const double difference = mean_of(left) - mean_of(right);
  EXPECT_NEAR(difference, -1.58, 1e-9);
  EXPECT_NEAR(margin_of_difference(left, right).value_or(0), 2.201 * 1.00310, 1e-4);
}

TEST(Confidence, one_value_tells_nothing_and_equal_ones_no_spread) {
  EXPECT_EQ(margin_of_difference({1.0}, {2.0, 3.0}), std::nullopt);
  EXPECT_EQ(margin_of_difference({2.0, 2.0}, {3.0, 3.0}), 0.0);
}

TEST(Diff, repeated_runs_tell_a_change_from_jitter) {
  const std::vector<Report> before{run(1000, 100), run(1010, 110), run(990, 90)};
  const Diff changed = compare(before, {run(800, 100), run(810, 90), run(790, 110)});
  EXPECT_FALSE(changed.is_by_step);
  const DiffRow& time = row(changed.totals, "run");
  EXPECT_DOUBLE_EQ(time.before_ns, 1000);
  EXPECT_DOUBLE_EQ(time.after_ns, 800);
  EXPECT_EQ(time.verdict, Verdict::less);
  EXPECT_EQ(row(changed.totals, "exposed").verdict, Verdict::jitter);
  EXPECT_EQ(row(changed.causes, "wire").verdict, Verdict::jitter);
  EXPECT_EQ(row(changed.call_sites, "MPI_Waitall in exchange").verdict, Verdict::jitter);
  EXPECT_EQ(row(compare({run(800, 1), run(801, 1)}, {run(1000, 1), run(1001, 1)}).totals, "run").verdict,
            Verdict::more);
}

TEST(Diff, a_change_of_a_cause_within_the_hosts_clocks_error_is_jitter) {
  const auto runs_of = [](std::uint64_t exposed_ns, std::uint64_t within_error_ns) {
    std::vector<Report> runs{run(1000, exposed_ns), run(1000, exposed_ns + 1), run(1000, exposed_ns - 1)};
    for (Report& each : runs) {
      each.within_error[static_cast<std::size_t>(Cause::wire)] = within_error_ns;
    }
    return runs;
  };
  const auto verdict = [&](std::uint64_t within_error_ns) {
    return row(compare(runs_of(400, within_error_ns), runs_of(300, within_error_ns)).causes, "wire").verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::less);
  EXPECT_EQ(verdict(30), Verdict::less);
  EXPECT_EQ(verdict(60), Verdict::jitter);
}

TEST(Diff, one_run_each_without_steps_says_that_it_does_not_know) {
  const Diff diff = compare({run(1000, 100)}, {run(500, 50)});
  EXPECT_EQ(diff.totals.front().verdict, Verdict::unknown);
  EXPECT_EQ(diff.totals.front().margin_ns, std::nullopt);
  EXPECT_NE(to_text(diff, false, 8).find("One run each"), std::string::npos);
}

TEST(Diff, one_run_each_is_judged_by_how_its_steps_vary) {
  std::vector<std::uint64_t> before;
  std::vector<std::uint64_t> faster;
  std::vector<std::uint64_t> alike;
  for (std::uint64_t i = 0; i < 200; ++i) {
    const std::uint64_t jitter = i * 7919 % 100;
    before.push_back(10'000 + jitter);
    faster.push_back(9'000 + jitter);
    alike.push_back(10'000 + i * 6007 % 100);
  }
  const Diff diff = compare({stepped(before)}, {stepped(faster)});
  EXPECT_TRUE(diff.is_by_step);
  EXPECT_TRUE(diff.from_steps);
  EXPECT_NEAR(row(diff.totals, "step").before_ns, 10'049.5, 1);
  EXPECT_EQ(row(diff.totals, "step").verdict, Verdict::less);
  EXPECT_EQ(row(diff.causes, "wire").verdict, Verdict::less);
  EXPECT_EQ(row(diff.call_sites, "MPI_Waitall in exchange").verdict,
            Verdict::unknown);  // no steps of a call site
  EXPECT_EQ(row(compare({stepped(before)}, {stepped(alike)}).totals, "step").verdict, Verdict::jitter);
}

TEST(Diff, steps_of_runs_of_unequal_length_are_compared_one_by_one) {
  const Diff diff =
      compare({stepped(std::vector<std::uint64_t>(10, 100))}, {stepped(std::vector<std::uint64_t>(40, 100))});
  EXPECT_DOUBLE_EQ(row(diff.totals, "step").before_ns, 100);
  EXPECT_DOUBLE_EQ(row(diff.totals, "step").after_ns, 100);
  EXPECT_EQ(row(diff.totals, "step").verdict, Verdict::jitter);
}

TEST(Diff, a_place_that_is_new_or_gone_is_listed_and_the_largest_change_first) {
  const Diff diff = compare({run(1000, 100, "old_exchange")}, {run(1000, 300, "new_exchange")});
  ASSERT_EQ(diff.call_sites.size(), 2u);
  EXPECT_EQ(diff.call_sites[0].name, "MPI_Waitall in new_exchange");
  EXPECT_DOUBLE_EQ(diff.call_sites[0].before_ns, 0);
  EXPECT_EQ(diff.call_sites[1].name, "MPI_Waitall in old_exchange");
  EXPECT_DOUBLE_EQ(diff.call_sites[1].after_ns, 0);
}

TEST(Diff, of_a_program_that_was_rebuilt_says_why_its_places_have_no_names) {
  Report before = run(1000, 100, "");
  before.rebuilt_modules = {"/work/app"};
  const Diff diff = compare({before}, {run(1000, 300)});
  EXPECT_EQ(diff.remarks,
            std::vector<std::string>{
                "functions of a run before are not named: app has been rebuilt or replaced since"});
}

/// The first rank of a job with 40 steps, as no other was to be recorded: a kernel, then a message; by hand,
/// its bytes are copied to the host before.
Report exchanges(bool by_hand) {
  const testing::TemporaryDirectory directory;
  testing::RecordingBuilder rank(0, 2);
  rank.header().features |= trace::feature::some_ranks;
  std::uint64_t now = 0;
  for (std::uint64_t step = 0; step < 40; ++step) {
    const std::uint64_t begin = now;
    rank.kernel(now, now + 1000 + step % 7);
    now += 1000 + step % 7;
    if (by_hand) {
      rank.copy(now, now + 300, 4096, 2);
      now += 320;  // what the host does besides the copy
    }
    rank.call({.function = "MPI_Send", .begin = now, .end = now + 100, .bytes = 4096})
        .half({.direction = trace::Direction::send,
               .peer = 1,
               .post = now,
               .complete = now + 100,
               .bytes = 4096});
    now += 150;
    rank.range("step", begin, now);
  }
  rank.runs(0, now).write(directory.path());
  return analyse(directory.path());
}

TEST(Diff, rows_of_parts_explain_all_of_a_change) {
  const Diff diff = compare({exchanges(false)}, {exchanges(true)});
  const DiffRow& step = row(diff.totals, "step");
  EXPECT_DOUBLE_EQ(step.after_ns - step.before_ns, 320);
  double change_ns = 0;
  double before_ns = 0;
  for (const DiffRow& each : diff.parts) {
    change_ns += each.after_ns - each.before_ns;
    before_ns += each.before_ns;
  }
  EXPECT_NEAR(change_ns, 320, 1e-6);
  EXPECT_NEAR(before_ns, step.before_ns, 1e-6);
  EXPECT_DOUBLE_EQ(row(diff.parts, "staging by hand").before_ns, 0);
  EXPECT_DOUBLE_EQ(row(diff.parts, "staging by hand").after_ns, 300);
  EXPECT_EQ(row(diff.parts, "staging by hand").verdict, Verdict::more);
  EXPECT_DOUBLE_EQ(row(diff.parts, "host code").after_ns - row(diff.parts, "host code").before_ns, 20);
  EXPECT_EQ(row(diff.parts, "kernels").verdict, Verdict::jitter);
  EXPECT_EQ(row(diff.totals, "kernels").verdict, Verdict::jitter) << "a total is judged as its part is";
  EXPECT_EQ(row(diff.totals, "kernels").margin_ns, row(diff.parts, "kernels").margin_ns);
  EXPECT_NE(to_text(diff, false, 8).find("above all staging by hand:\n+0.300 µs"), std::string::npos)
      << to_text(diff, false, 8);
}

bool holds(const Report& before, const Report& after, std::string_view text) {
  std::string why;
  const FailCondition condition = FailCondition::parse(text, why).value();
  const std::optional<double> change = Baseline(before, after).change(condition);
  EXPECT_TRUE(change) << text;
  return change && condition.holds(*change);
}

TEST(Baseline, decides_changes_of_a_step_and_of_its_parts) {
  const Report before = exchanges(false);
  const Report after = exchanges(true);
  EXPECT_TRUE(holds(before, after, "step > +25%"));
  EXPECT_FALSE(holds(before, after, "step > +30%"));
  EXPECT_TRUE(holds(before, after, "step > +0.3us"));
  EXPECT_FALSE(holds(before, after, "step > +0.33us"));
  EXPECT_TRUE(holds(before, after, "staging > +5%")) << "there was none before";
  EXPECT_TRUE(holds(before, after, "staging >= +0.3us"));
  EXPECT_FALSE(holds(before, after, "exposed > +0%"));
  EXPECT_FALSE(holds(before, after, "late sender > +0%"));
  EXPECT_FALSE(holds(after, before, "step > +0%")) << "it became faster";
}

TEST(Baseline, says_that_a_part_is_new_where_there_is_no_percentage) {
  std::string why;
  const FailCondition condition = FailCondition::parse("staging > +5%", why).value();
  const Baseline baseline(exchanges(false), exchanges(true));
  EXPECT_EQ(baseline.describe(condition, baseline.change(condition).value()),
            "staging is new: 0 before, 0.30 µs a step now; it fails if > +5 %");
}

TEST(Baseline, a_change_that_may_be_chance_is_none_and_one_that_cannot_be_told_is_unknown) {
  std::vector<std::uint64_t> lengths;
  std::vector<std::uint64_t> alike;
  for (std::uint64_t i = 0; i < 200; ++i) {
    lengths.push_back(10'000 + i * 7919 % 100);
    alike.push_back(10'001 + i * 6007 % 100);
  }
  EXPECT_FALSE(holds(stepped(lengths), stepped(alike), "step > +0%"));
  std::string why;
  const FailCondition condition = FailCondition::parse("step > +5%", why).value();
  const auto why_unknown = [&](const Report& before, const Report& after) {
    const Baseline baseline(before, after);
    EXPECT_FALSE(baseline.change(condition));
    return baseline.why_unknown(condition);
  };
  EXPECT_EQ(why_unknown(stepped({100}), stepped({200})), "too few steps to tell a change from jitter");
  EXPECT_EQ(why_unknown(stepped(lengths), run(1000, 100)), "only one of the two recordings has steps");
  EXPECT_EQ(why_unknown(run(1000, 100), run(1000, 100)),
            "no steps were found that both have: name an NVTX range with --step");
  Report cut = stepped(lengths);
  cut.recorded_part = RecordedPart{.recorded_ns = 1'000'000, .run_ns = 2'000'000};
  EXPECT_NE(why_unknown(cut, stepped(lengths)).find("the baseline: recorded up to"), std::string::npos);
  EXPECT_NE(why_unknown(stepped(lengths), cut).find("the recording: recorded up to"), std::string::npos);
}

TEST(Baseline, of_a_history_decides_by_what_its_runs_differ_by_and_calls_the_other_run_the_one_before) {
  const std::vector<std::uint64_t> lengths(20, 10'000);
  const std::vector<std::uint64_t> longer(20, 12'000);
  const auto condition = [](std::string_view text) {
    std::string why;
    return FailCondition::parse(text, why).value();
  };
  Diff change = compare({stepped(lengths)}, {stepped(longer)});
  const Baseline alone(stepped(lengths), stepped(longer), change);
  EXPECT_EQ(alone.change(condition("step > +5%")), 20.0);
  EXPECT_NE(alone.reservation().find("variation within both runs alone"), std::string::npos);

  change.other_pairs = 2;
  change.totals.front().margin_ns = 4'000;
  change.totals.front().verdict = verdict_on(change.totals.front());
  const Baseline known(stepped(lengths), stepped(longer), change);
  EXPECT_EQ(known.change(condition("step > +5%")), 0.0);
  EXPECT_EQ(known.jitter(condition("step > +5%")), 40.0);
  EXPECT_EQ(known.jitter(condition("step > +1us")), 4.0);
  EXPECT_EQ(known.reservation(), "");

  Report cut = stepped(lengths);
  cut.recorded_part = RecordedPart{.recorded_ns = 1'000'000, .run_ns = 2'000'000};
  const std::string why = Baseline(cut, stepped(longer), change).why_unknown(condition("step > +5%"));
  EXPECT_NE(why.find("the run before it: recorded up to"), std::string::npos) << why;
  EXPECT_FALSE(Baseline(cut, stepped(longer), change).jitter(condition("step > +5%")));
}

TEST(Diff, says_where_one_run_alone_has_launches_of_kernels) {
  Report before = stepped({1000, 1010, 1020, 1030});
  before.ranks[0].kernels_known = true;
  before.ranks[0].launches_known = false;
  const Report after = stepped({2000, 2010, 2020, 2030});
  const Diff diff = compare({before}, {after});
  EXPECT_EQ(row(diff.parts, "host code").verdict, Verdict::unknown);
  EXPECT_EQ(row(diff.parts, "wire").verdict, Verdict::more);
  EXPECT_TRUE(std::any_of(diff.remarks.begin(), diff.remarks.end(), [](const std::string& each) {
    return each.find("when kernels were launched") != std::string::npos;
  }));
  std::string why;
  const FailCondition condition = FailCondition::parse("host code > +5%", why).value();
  EXPECT_FALSE(Baseline(before, after).change(condition));
  EXPECT_EQ(Baseline(before, after).why_unknown(condition),
            "when kernels were launched was not recorded in both");
  EXPECT_EQ(row(compare({before}, {before}).parts, "host code").verdict, Verdict::jitter);
}

TEST(Baseline, says_what_else_differs) {
  Report other = run(1000, 100);
  other.program = "/opt/other/solver --fast";
  other.mpi_version = "Open MPI v4.1.4";
  EXPECT_EQ(Baseline(run(1000, 100), run(2000, 100)).what_differs(), "");
  const std::string what = Baseline(run(1000, 100), other).what_differs();
  EXPECT_NE(what.find("MPI libraries differ: "), std::string::npos) << what;
  EXPECT_NE(what.find(", and commands differ: ; solver --fast"), std::string::npos) << what;
}

TEST(Diff, says_what_makes_two_runs_hard_to_compare) {
  Report more_ranks = run(1000, 100);
  more_ranks.world_size = 4;
  Report blind = run(1000, 100);
  blind.measure = Measure::communication_time;
  blind.parts.reset();
  const Diff ranks = compare({run(1000, 100)}, {more_ranks});
  ASSERT_EQ(ranks.remarks.size(), 1u);
  EXPECT_EQ(ranks.remarks[0], "numbers of ranks differ: 1; 4");
  EXPECT_EQ(compare({more_ranks}, {run(1000, 100)}).remarks.at(0), "numbers of ranks differ: 4; 1")
      << "before, after";
  Report simulated = run(1000, 100);
  simulated.simulated_gpu = true;
  const Diff gpus = compare({run(1000, 100)}, {simulated});
  ASSERT_EQ(gpus.remarks.size(), 1u);
  EXPECT_EQ(gpus.remarks[0], "GPUs differ: none; simulated");
  const Diff kernels = compare({run(1000, 100)}, {blind});
  EXPECT_TRUE(kernels.causes.empty());
  EXPECT_TRUE(kernels.parts.empty());
  EXPECT_EQ(kernels.totals.size(), 2u);  // the run, and the time in MPI
  ASSERT_EQ(kernels.remarks.size(), 1u);
  EXPECT_NE(kernels.remarks[0].find("have no record of kernels"), std::string::npos);
}

TEST(Diff, text_is_never_wider_than_100_columns_and_steers_no_terminal) {
  Report long_names = run(1'000'000, 100'000,
                          "exchange_the_halos_of_the_whole_lattice_with_all_neighbours_of_all_ranks\033[2J");
  long_names.program = std::string(200, 'x');
  const std::string text = to_text(compare({run(1'000'000, 100)}, {long_names}), false, 8);
  EXPECT_EQ(text.find('\033'), std::string::npos);
  EXPECT_NE(text.find("A1 A2 A3"), std::string::npos);
}

TEST(Diff, json_names_its_schema_and_what_is_not_known_is_null) {
  const nlohmann::json json = nlohmann::json::parse(to_json(compare({run(1000, 100)}, {run(500, 50)})));
  EXPECT_EQ(json.at("schema"), "penstock-diff-1");
  EXPECT_EQ(json.at("time_of"), "run");
  EXPECT_TRUE(json.at("totals").at(0).at("margin_s").is_null());
  EXPECT_EQ(json.at("totals").at(0).at("verdict"), "unknown");
  EXPECT_DOUBLE_EQ(json.at("totals").at(0).at("after_s"), 500e-9);
}

}  // namespace
}  // namespace penstock::analysis
