// The difference that two runs of a program may have, as its steps vary. Times are ns.
#include "analysis/figures/run_to_run.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"
#include "analysis/report/text/report_text.hpp"

namespace penstock::analysis {
namespace {

Report with_steps(const std::vector<std::uint64_t>& times_ns, std::uint64_t ranks) {
  Report report;
  report.counted_ranks = ranks;
  report.steps.emplace();
  for (const std::uint64_t each : times_ns) {
    StepFigures step;
    step.total_ns = each * ranks;
    report.steps->each.push_back(step);
    report.total_ns += step.total_ns;
  }
  return report;
}

std::optional<std::uint64_t> difference_of(const Report& report) {
  return run_to_run_ns(report.steps->each, report.counted_ranks);
}

TEST(RunToRun, is_nothing_where_all_steps_are_alike) {
  EXPECT_EQ(difference_of(with_steps({1000, 1000, 1000, 1000}, 2)), 0u);
}

TEST(RunToRun, is_the_confidence_interval_of_the_sums_of_such_steps) {
  // variance 2,500 × 4 / 3; that of the difference of two means of four half of it; t of six degrees 2.447
  const double expected = 4 * 2.447 * std::sqrt(2 * 2500 * 4.0 / 3 / 4);
  EXPECT_EQ(difference_of(with_steps({950, 1050, 950, 1050}, 1)),
            static_cast<std::uint64_t>(std::lround(expected)));
  EXPECT_EQ(difference_of(with_steps({950, 1050, 950, 1050}, 3)),
            static_cast<std::uint64_t>(std::lround(expected)));
}

TEST(RunToRun, is_not_known_without_two_steps) {
  EXPECT_FALSE(run_to_run_ns({}, 1));
  EXPECT_FALSE(difference_of(with_steps({1000}, 1)));
}

Report advised(const std::vector<std::uint64_t>& times_ns, std::uint64_t uncertainty_ns) {
  Report report = with_steps(times_ns, 1);
  report.steps->run_to_run_ns = difference_of(report);
  Advice advice{AdviceKind::host_code, 2'000'000, "Leave it out."};
  advice.uncertainty_ns = uncertainty_ns;
  report.advice.push_back(advice);
  return report;
}

TEST(RunToRun, is_told_below_advice_that_is_surer_than_that) {
  const std::vector<std::uint64_t> uneven{9'500'000, 10'500'000, 9'500'000, 10'500'000};
  std::string text = to_text(advised(uneven, 1'000'000), {});
  std::replace(text.begin(), text.end(), '\n', ' ');
  EXPECT_NE(text.find("Two runs of the same program may differ by 3.996 ms besides"), std::string::npos)
      << text;
  EXPECT_EQ(to_text(advised(uneven, 5'000'000), {}).find("Two runs"), std::string::npos);
  EXPECT_EQ(to_text(advised({10'000'000, 10'000'000}, 0), {}).find("Two runs"), std::string::npos);
}

}  // namespace
}  // namespace penstock::analysis
