#include "analysis/cli/options/conditions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "analysis/cli/options/cannot_be_told.hpp"
#include "analysis/layout/text_table.hpp"

namespace penstock::cli {
namespace {

std::string why_unknown(const analysis::FailCondition& condition, const analysis::Report& report,
                        const std::optional<analysis::Baseline>& baseline) {
  if (!condition.is_of_change()) {
    return condition.why_unknown(report);
  }
  return baseline ? baseline->why_unknown(condition) : "there is no run to compare with";
}

std::optional<double> jitter_of(const analysis::FailCondition& condition,
                                const std::optional<analysis::Baseline>& baseline) {
  return baseline && condition.is_of_change() ? baseline->jitter(condition) : std::nullopt;
}

}  // namespace

void add_fail_if_option(CLI::App& command, std::vector<analysis::FailCondition>& conditions,
                        const std::string& description) {
  command
      .add_option_function<std::vector<std::string>>(
          "--fail-if",
          [&conditions](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              std::string why;
              std::optional<analysis::FailCondition> condition = analysis::FailCondition::parse(text, why);
              if (!condition) {
                throw CLI::ValidationError("--fail-if", why);
              }
              conditions.push_back(std::move(*condition));
            }
          },
          description)
      ->type_name("CONDITION")
      ->allow_extra_args(false);  // otherwise it would take the recording for a second condition
}

int check(const std::vector<analysis::FailCondition>& conditions, const analysis::Report& report,
          const std::optional<analysis::Baseline>& baseline, std::string_view command) {
  int exit_code = 0;
  for (const analysis::FailCondition& condition : conditions) {
    const std::optional<double> figure = !condition.is_of_change() ? condition.figure(report)
                                         : baseline                ? baseline->change(condition)
                                                                   : std::nullopt;
    if (!figure) {
      const std::string why = why_unknown(condition, report, baseline);
      fmt::print(stderr, "penstock {}: --fail-if \"{}\" cannot be decided{}{}\n", command, condition.text(),
                 why.empty() ? "" : ": ", analysis::printable(why));
      exit_code = std::max(exit_code, cannot_be_told);
    } else if (condition.holds(*figure)) {
      const std::string reservation =
          condition.is_of_change() && baseline ? baseline->reservation() : std::string();
      const std::string holds = condition.is_of_change() && baseline ? baseline->describe(condition, *figure)
                                                                     : condition.describe(*figure);
      fmt::print(stderr, "penstock {}: {}{}{}{}\n", command, holds, reservation.empty() ? "" : " (",
                 reservation, reservation.empty() ? "" : ")");
      exit_code = exit_code == 0 ? condition_holds : exit_code;
    } else if (const std::optional<double> jitter = jitter_of(condition, baseline);
               jitter && condition.is_hidden_by(*jitter)) {
      fmt::print(stderr, "penstock {}: {}\n", command, condition.describe_hidden(*jitter));
    }
  }
  return exit_code;
}

}  // namespace penstock::cli
