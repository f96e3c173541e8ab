// penstock trend: shows the history of a program from recordings of its runs.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/cli/analysis_progress.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/cli/common_steps.hpp"
#include "analysis/cli/options/cannot_be_told.hpp"
#include "analysis/cli/options/conditions.hpp"
#include "analysis/cli/options/whole_number.hpp"
#include "analysis/cli/page_file.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/comparison/baseline.hpp"
#include "analysis/comparison/report_html.hpp"
#include "analysis/comparison/same_run.hpp"
#include "analysis/comparison/trend.hpp"
#include "analysis/comparison/trend_text.hpp"
#include "analysis/layout/text_table.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/recording/flaw.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

struct TrendOptions {
  std::vector<std::filesystem::path> recordings;
  bool as_given = false;
  std::vector<std::string> regions;
  analysis::AnalysisOptions analysis;
  bool json = false;
  std::filesystem::path html;  ///< empty: no page
  std::size_t top = 20;
  std::vector<analysis::FailCondition> fail_if;
};

struct History {
  std::vector<analysis::NamedReport> reports;
  std::vector<analysis::LeftOut> left_out;
  bool is_readable = true;  ///< false: a recording could not be read
  /// Of what was left out, the first that may be the newest run; empty: none. Such a one has not counted yet.
  std::string may_be_newest;
};

/// Leaves out what cannot be read or has not the step that was asked for: a history should not end where one
/// recording is broken. A run counts once, though a link names it again.
History read_all(const TrendOptions& options, const analysis::AnalysisOptions& analysis) {
  History history;
  for (const std::filesystem::path& each : options.recordings) {
    const auto leave_out = [&](const std::string& why) {
      history.left_out.push_back({each.string(), why});
      history.may_be_newest = history.may_be_newest.empty() ? why : history.may_be_newest;
    };
    try {
      analysis::Report report =
          with_progress(analysis, [&](const auto& with_bar) { return analysis::analyse(each, with_bar); });
      const auto counted = std::find_if(history.reports.begin(), history.reports.end(),
                                        [&](const analysis::NamedReport& earlier) {
                                          return analysis::are_of_one_run(earlier.report, report);
                                        });
      if (!report.missing_step.empty()) {
        leave_out(missing_step_text(each, report));
      } else if (counted != history.reports.end()) {
        history.left_out.push_back(
            {each.string(), analysis::same_run_text(each.string(), counted->recording)});
      } else {
        history.reports.push_back({each.string(), std::move(report)});
      }
    } catch (const analysis::TraceError& error) {
      leave_out(error.what());
      history.is_readable = false;
    }
  }
  return history;
}

std::vector<const analysis::Report*> all_of(const History& history) {
  std::vector<const analysis::Report*> all;
  add_reports(all, history.reports, &analysis::NamedReport::report);
  return all;
}

/// Judges the newest run, changes against the one before it. A recording that cannot be read might be the
/// newest one.
int judge(const TrendOptions& options, const History& history, const analysis::Trend& trend) {
  if (options.fail_if.empty()) {
    return 0;
  }
  if (!history.may_be_newest.empty()) {
    fmt::print(stderr, "penstock trend: --fail-if cannot be decided: {}\n",
               analysis::printable(history.may_be_newest));
    return cannot_be_told;
  }
  const std::size_t count = history.reports.size();
  std::optional<analysis::Baseline> before;
  if (count > 1) {
    before.emplace(history.reports[count - 2].report, history.reports.back().report,
                   *trend.runs.back().change);
  }
  return check(options.fail_if, history.reports.back().report, before, "trend");
}

int trend(const TrendOptions& options) {
  if (!options.html.empty()) {
    require_page(options.html);
  }
  History history;
  read_with_common_steps(
      options.analysis,
      [&](const analysis::AnalysisOptions& analysis) { history = read_all(options, analysis); },
      [&] { return all_of(history); });
  if (history.reports.empty()) {
    for (const analysis::LeftOut& each : history.left_out) {
      fmt::print(stderr, "penstock: {}\n", analysis::printable(each.why));
    }
    return history.is_readable ? cannot_be_told : 1;
  }
  if (!options.as_given) {
    analysis::order_by_begin(history.reports);
  }
  const analysis::Trend result = analysis::trend_of(history.reports, options.regions);
  if (!options.html.empty()) {
    write_page(analysis::to_html(result, history.left_out, viz::page()), options.html, options.json);
  }
  if (options.json) {
    fmt::print("{}\n", analysis::to_json(result, history.left_out));
  } else if (options.html.empty()) {
    fmt::print("{}",
               analysis::to_text(result, history.left_out, wants_colours(), options.top, report_columns()));
  }
  return judge(options, history, result);
}

}  // namespace

void add_trend_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<TrendOptions>();
  CLI::App* const command = application.add_subcommand(
      "trend", "Show how a program's steps changed from run to run, and which changes are more than jitter");
  command->add_option("recordings", options->recordings, "Of runs of one program, ordered by when they began")
      ->required()
      ->type_name("RECORDING");
  command->add_flag("--as-given", options->as_given, "Keep the order in which they are named");
  command
      ->add_option("--region", options->regions,
                   "Show the time in NVTX ranges of this name, too; may be given several times")
      ->type_name("NAME")
      ->allow_extra_args(false);
  options->analysis.threads = 0;
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Whole runs, not steps");
  command->add_option("--step", options->analysis.step_range, "The NVTX range that is a step of the program")
      ->type_name("RANGE")
      ->excludes(whole_run);
  command->add_flag("--json", options->json, "Write JSON (schema penstock-trend-1) instead of text");
  command
      ->add_option("--html", options->html,
                   "Write a page for any browser instead, with charts of the history")
      ->type_name("FILE")
      ->check([](const std::string& to) { return to.empty() ? "a name is missing" : ""; });
  command->add_option("--top", options->top, "Newest runs shown in the text")
      ->check(whole_number(1, most_rows))
      ->capture_default_str();
  add_fail_if_option(
      *command, options->fail_if,
      "Exit with 3 if this holds of the newest run, with 4 if it cannot be decided: 'exposed > "
      "10%', 'step > 12ms'; 'step > +5%' against the run before it, and beyond what runs differ by anyway");
  command->callback([options, &exit_code] { exit_code = trend(*options); });
}

}  // namespace penstock::cli
