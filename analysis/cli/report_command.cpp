// penstock report: reads a recording and reports what was exposed.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/cli/analysis_progress.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/cli/common_steps.hpp"
#include "analysis/cli/mpi_team.hpp"
#include "analysis/cli/options/cannot_be_told.hpp"
#include "analysis/cli/options/conditions.hpp"
#include "analysis/cli/options/skip_options.hpp"
#include "analysis/cli/options/what_if_option.hpp"
#include "analysis/cli/options/whole_number.hpp"
#include "analysis/cli/page_file.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/cli/written_output.hpp"
#include "analysis/comparison/baseline.hpp"
#include "analysis/comparison/report_html.hpp"
#include "analysis/comparison/same_run.hpp"
#include "analysis/job_timeline/job_timeline.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/pipeline/look.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"
#include "analysis/report/json/report_json.hpp"
#include "analysis/report/text/report_text.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

struct ReportOptions {
  std::filesystem::path recording = "penstock-out";
  bool now = false;
  bool json = false;
  std::filesystem::path html;  ///< empty: no page
  analysis::AnalysisOptions analysis;
  std::size_t top = analysis::TextOptions{}.top;
  bool all = false;
  bool alone = false;
  std::vector<analysis::FailCondition> fail_if;
  std::filesystem::path baseline;  ///< empty: none
};

/// Compares with the baseline that the options name; null if there is none.
std::optional<analysis::Baseline> compare_with_baseline(const ReportOptions& options,
                                                        const analysis::Report& result) {
  if (options.baseline.empty()) {
    return std::nullopt;
  }
  const auto read = [](const std::filesystem::path& recording, const analysis::AnalysisOptions& analysis) {
    return with_progress(analysis,
                         [&](const auto& with_bar) { return analysis::analyse(recording, with_bar); });
  };
  analysis::Report baseline;
  std::optional<analysis::Report> again;  // as it has to be read to be compared
  bool is_first = true;
  read_with_common_steps(
      options.analysis,
      [&](const analysis::AnalysisOptions& analysis) {
        baseline = read(options.baseline, analysis);
        if (!std::exchange(is_first, false)) {
          again = read(options.recording, analysis);
        }
      },
      [&] {
        return std::vector<const analysis::Report*>{&baseline, again ? &*again : &result};
      });
  std::optional<analysis::Baseline> compared(std::in_place, baseline, again ? *again : result);
  if (analysis::are_of_one_run(baseline, result)) {
    fmt::print(stderr, "penstock report: --baseline is of the same run as the recording\n");
  }
  if (const std::string& what = compared->what_differs(); !what.empty()) {
    fmt::print(stderr, "penstock report: --baseline is of another kind of run: {}\n",
               analysis::printable(what));
  }
  return compared;
}

/// Throws if a change is asked for without a baseline, a baseline without a change, or figures of this
/// moment.
void require_what_belongs_together(const ReportOptions& options) {
  if (options.now && (!options.html.empty() || !options.fail_if.empty() || !options.baseline.empty() ||
                      !options.analysis.what_if.empty() || options.analysis.whole_run ||
                      options.analysis.only_rank || !options.analysis.step_range.empty())) {
    throw CLI::ValidationError("--now",
                               "shows what ranks are in, and no figures: leave the other options out");
  }
  const auto of_change =
      std::find_if(options.fail_if.begin(), options.fail_if.end(),
                   [](const analysis::FailCondition& each) { return each.is_of_change(); });
  if (of_change != options.fail_if.end() && options.baseline.empty()) {
    throw CLI::ValidationError(
        "--fail-if", fmt::format("\"{}\" is a change: name what it is compared with by --baseline RECORDING",
                                 of_change->text()));
  }
  if (of_change == options.fail_if.end() && !options.baseline.empty()) {
    throw CLI::ValidationError("--baseline", "needs a condition on a change, such as --fail-if 'step > +5%'");
  }
}

/// Says on stderr what --what-if asked and the report does not answer. Returns whether it answers all.
bool answers_what_if(const ReportOptions& options, const analysis::Report& result) {
  if (options.analysis.what_if.empty()) {
    return true;
  }
  const std::vector<std::string> why_not =
      result.replay ? result.replay->not_answered
                    : std::vector{result.why_no_replay.empty() ? "nothing is counted" : result.why_no_replay};
  for (const std::string& each : why_not) {
    fmt::print(stderr, "penstock report: --what-if cannot be answered: {}\n", analysis::printable(each));
  }
  return why_not.empty();
}

/// Prints the report. Returns the exit code.
int show(const ReportOptions& options, const analysis::Report& result,
         const std::optional<analysis::job_timeline::JobTimeline>& timeline) {
  if (timeline) {
    write_page(analysis::to_html(result, timeline->json(), viz::page()), options.html, options.json);
  }
  if (options.json) {
    fmt::print("{}\n", analysis::to_json(result));
  } else if (options.html.empty()) {
    fmt::print("{}",
               analysis::to_text(result, {wants_colours(), options.top, options.all, report_columns()}));
  }
  const bool has_step = have_wanted_step("report", {options.recording}, {result});
  const bool is_answered = answers_what_if(options, result) && has_step;
  const int code = check(options.fail_if, result, compare_with_baseline(options, result), "report");
  return code == 0 && !is_answered ? cannot_be_told : code;
}

int report_alone(const ReportOptions& options) {
  std::optional<analysis::job_timeline::JobTimeline> timeline;  // requires another pass
  if (!options.html.empty()) {
    require_page(options.html);
    timeline.emplace(analysis::job_timeline::Budget{}, options.analysis.skip);
  }
  const analysis::Report result = with_progress(options.analysis, [&](const auto& with_bar) {
    return analysis::analyse(options.recording, with_bar, timeline ? &*timeline : nullptr);
  });
  return show(options, result, timeline);
}

/// Makes the report in a team. The first process prints; all return the same code. `threads`: of each
/// process.
int report_together(const ReportOptions& options, MpiTeam& team) {
  analysis::AnalysisOptions shared = options.analysis;
  shared.threads = std::max(1u, shared.threads);  // the launcher chose the number of processes
  try {
    if (team.own() != 0) {
      static_cast<void>(analysis::analyse_together(options.recording, shared, team));
      return team.common(0);
    }
    std::optional<analysis::job_timeline::JobTimeline> timeline;
    if (!options.html.empty()) {
      require_page(options.html);
      timeline.emplace(analysis::job_timeline::Budget{}, options.analysis.skip);
    }
    const analysis::Report result = with_progress(shared, [&](const auto& with_bar) {
      return *analysis::analyse_together(options.recording, with_bar, team, timeline ? &*timeline : nullptr);
    });
    return team.common(code_once_written(show(options, result, timeline)));
  } catch (const analysis::CommonTraceError& error) {
    if (team.own() == 0) {
      fmt::print(stderr, "penstock: {}\n", error.what());
    }
    return 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: process {} of {}: {}\n", team.own(), team.size(), error.what());
    team.abort(1);
  }
}

int look_now(const ReportOptions& options) {
  const analysis::Report result = analysis::look_at_job(options.recording, options.analysis.skip);
  if (options.json) {
    fmt::print("{}\n", analysis::to_json_of_look(result));
  } else {
    fmt::print("{}", analysis::to_text_of_look(
                         result, {wants_colours(), options.top, options.all, report_columns()}));
  }
  return 0;
}

int report(const ReportOptions& options) {
  if (options.now) {
    return look_now(options);
  }
  std::string why_alone;
  const std::unique_ptr<MpiTeam> team = options.alone ? nullptr : MpiTeam::join(why_alone);
  if (team != nullptr) {
    return report_together(options, *team);
  }
  if (!why_alone.empty()) {
    if (launched().own != 0) {
      return 0;
    }
    fmt::print(stderr, "penstock report: {}\n", why_alone);
  }
  return report_alone(options);
}

}  // namespace

void add_report_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = application.add_subcommand(
      "report", "Show where communication was exposed, by cause, place, rank and transport");
  command->add_option("recording", options->recording, "Directory of a recording, or one rank's file")
      ->type_name("RECORDING")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Write JSON (schema penstock-report-2) instead of text");
  command->add_flag("--now", options->now,
                    "While a job runs or hangs: only what each rank is in, and who waits for whom");
  command
      ->add_option("--html", options->html,
                   "Write a page for any browser instead, one file that needs nothing else")
      ->type_name("FILE")
      ->check([](const std::string& to) { return to.empty() ? "a name is missing" : ""; });
  command->add_option("--rank", options->analysis.only_rank, "Figures of this rank alone")
      ->check(whole_number(0, most_ranks_named));
  options->analysis.threads = 0;
  command
      ->add_option("--jobs", options->analysis.threads,
                   "Threads that do the work; 0: one for each core, or one in each process under mpiexec")
      ->check(whole_number(0, 1024))
      ->capture_default_str();
  command->add_flag("--alone", options->alone,
                    "Under mpiexec: do not wait for the other processes, which make no report");
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Count start-up and shutdown, too");
  command
      ->add_option("--step", options->analysis.step_range,
                   "The NVTX range that is a step of the program, instead of what is found")
      ->type_name("RANGE")
      ->excludes(whole_run);
  add_skip_options(*command, options->analysis.skip);
  add_what_if_option(*command, options->analysis.what_if);
  command->add_option("--top", options->top, "Rows of each list")
      ->check(whole_number(1, most_rows))
      ->capture_default_str();
  command->add_flag("--all", options->all,
                    "Every section: kernels beside the waits, collectives, phases, messages");
  add_fail_if_option(
      *command, options->fail_if,
      "Exit with 3 if this holds, with 4 if it cannot be decided: 'exposed > 10%', 'host code > "
      "5ms', 'step > 12ms', 'parallel efficiency < 80%'; with --baseline 'step > +5%'");
  command
      ->add_option("--baseline", options->baseline,
                   "A recording that conditions such as 'step > +5%' compare with; changes that may be "
                   "chance do not count")
      ->type_name("RECORDING");
  command->callback([options, &exit_code] {
    require_what_belongs_together(*options);
    exit_code = report(*options);
  });
}

}  // namespace penstock::cli
