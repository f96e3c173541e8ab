// penstock diff: compares recordings of two versions of a program.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/cli/analysis_progress.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/cli/common_steps.hpp"
#include "analysis/cli/options/cannot_be_told.hpp"
#include "analysis/cli/options/skip_options.hpp"
#include "analysis/cli/options/whole_number.hpp"
#include "analysis/cli/page_file.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/comparison/diff.hpp"
#include "analysis/comparison/diff_text.hpp"
#include "analysis/comparison/report_html.hpp"
#include "analysis/comparison/same_run.hpp"
#include "analysis/job_timeline/job_timeline.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

using analysis::job_timeline::JobTimeline;

struct DiffOptions {
  std::vector<std::filesystem::path> pair;
  std::vector<std::filesystem::path> before;
  std::vector<std::filesystem::path> after;
  analysis::AnalysisOptions analysis;
  bool json = false;
  std::filesystem::path html;  ///< empty: no page
  std::size_t top = 8;
};

/// The reports of one version of the program.
struct State {
  std::vector<std::filesystem::path> recordings;  ///< of `reports`
  std::vector<analysis::Report> reports;
  std::vector<std::string> named_again;  ///< recordings that do not count, each in words
  std::string timeline;                  ///< JSON, of the first run; empty if not needed
};

/// Counts each run once: else a run that is named again would seem to repeat without jitter.
State state_of(const std::vector<std::filesystem::path>& recordings, const analysis::AnalysisOptions& options,
               bool wants_timeline) {
  State state;
  for (const std::filesystem::path& each : recordings) {
    std::optional<JobTimeline> timeline;  // requires another pass
    if (wants_timeline && state.reports.empty()) {
      timeline.emplace(analysis::job_timeline::half_of_budget(), options.skip);  // a page holds two
    }
    analysis::Report report = with_progress(options, [&](const auto& with_bar) {
      return analysis::analyse(each, with_bar, timeline ? &*timeline : nullptr);
    });
    if (timeline) {
      state.timeline = timeline->json();
    }
    const auto counted = std::find_if(
        state.reports.begin(), state.reports.end(),
        [&](const analysis::Report& earlier) { return analysis::are_of_one_run(earlier, report); });
    if (counted == state.reports.end()) {
      state.recordings.push_back(each);
      state.reports.push_back(std::move(report));
    } else {
      const auto place = static_cast<std::size_t>(counted - state.reports.begin());
      state.named_again.push_back(analysis::same_run_text(each.string(), state.recordings[place].string()));
    }
  }
  return state;
}

std::vector<const analysis::Report*> all_of(const State& before, const State& after) {
  std::vector<const analysis::Report*> all;
  add_reports(all, before.reports);
  add_reports(all, after.reports);
  return all;
}

int diff(DiffOptions options) {
  if (!options.html.empty()) {
    require_page(options.html);
  }
  if (!options.pair.empty()) {
    options.before = {options.pair[0]};
    options.after = {options.pair[1]};
  }
  const bool wants_page = !options.html.empty();
  State before;
  State after;
  read_with_common_steps(
      options.analysis,
      [&](const analysis::AnalysisOptions& analysis) {
        before = state_of(options.before, analysis, wants_page);
        after = state_of(options.after, analysis, wants_page);
      },
      [&] { return all_of(before, after); });
  const bool steps_are_known = have_wanted_step("diff", before.recordings, before.reports);
  if (!have_wanted_step("diff", after.recordings, after.reports) || !steps_are_known) {
    return cannot_be_told;
  }
  analysis::Diff compared = analysis::compare(before.reports, after.reports);
  for (std::vector<std::string>* const each : {&before.named_again, &after.named_again}) {
    std::move(each->begin(), each->end(), std::back_inserter(compared.remarks));
  }
  if (wants_page) {
    const std::string html =
        analysis::to_html(compared, {std::move(before.timeline), std::move(after.timeline)}, viz::page());
    write_page(html, options.html, options.json);
  }
  if (options.json) {
    fmt::print("{}\n", analysis::to_json(compared));
  } else if (options.html.empty()) {
    fmt::print("{}", analysis::to_text(compared, wants_colours(), options.top, report_columns()));
  }
  return compared.is_known ? 0 : cannot_be_told;
}

}  // namespace

void add_diff_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  options->analysis.threads = 0;
  CLI::App* const command = application.add_subcommand(
      "diff", "Compare recordings of two versions of a program; repeated runs tell change from jitter");
  CLI::Option* const pair = command->add_option("recordings", options->pair, "Before and after")
                                ->expected(2)
                                ->type_name("BEFORE AFTER");
  CLI::Option* const before =
      command->add_option("--before", options->before, "Recordings of repeated runs before")
          ->type_name("RECORDING")
          ->excludes(pair);
  CLI::Option* const after = command->add_option("--after", options->after, "… and after")
                                 ->type_name("RECORDING")
                                 ->excludes(pair)
                                 ->needs(before);
  before->needs(after);
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Compare whole runs, not steps");
  command->add_option("--step", options->analysis.step_range, "The NVTX range that is a step of the program")
      ->type_name("RANGE")
      ->excludes(whole_run);
  command->add_flag("--json", options->json, "Write JSON (schema penstock-diff-1) instead of text");
  command->add_option("--html", options->html, "Write a page for any browser instead, with both side by side")
      ->type_name("FILE")
      ->check([](const std::string& to) { return to.empty() ? "a name is missing" : ""; });
  add_skip_options(*command, options->analysis.skip);
  command->add_option("--top", options->top, "Call sites shown")
      ->check(whole_number(1, most_rows))
      ->capture_default_str();
  command->callback([options, &exit_code] {
    if (options->pair.empty() && options->before.empty()) {
      throw CLI::RequiredError("two recordings, or --before … --after …,");
    }
    exit_code = diff(*options);
  });
}

}  // namespace penstock::cli
