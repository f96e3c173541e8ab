// penstock diff: compares recordings of two states of a program.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/analyse.hpp"
#include "analysis/cli/analysis_progress.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/cli/page_file.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/diff.hpp"
#include "analysis/diff_text.hpp"
#include "analysis/report_html.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

struct DiffOptions {
  std::vector<std::filesystem::path> pair;
  std::vector<std::filesystem::path> before;
  std::vector<std::filesystem::path> after;
  analysis::AnalysisOptions analysis;
  bool json = false;
  std::filesystem::path html;  ///< empty: no page
  std::size_t top = 8;
};

std::vector<analysis::Report> reports_on(const std::vector<std::filesystem::path>& recordings,
                                         const analysis::AnalysisOptions& options) {
  std::vector<analysis::Report> reports;
  for (const std::filesystem::path& each : recordings) {
    reports.push_back(
        with_progress(options, [&](const auto& with_bar) { return analysis::analyse(each, with_bar); }));
  }
  return reports;
}

int diff(DiffOptions options) {
  if (!options.html.empty()) {
    require_page(options.html);
  }
  if (!options.pair.empty()) {
    options.before = {options.pair[0]};
    options.after = {options.pair[1]};
  }
  std::vector<analysis::Report> before = reports_on(options.before, options.analysis);
  std::vector<analysis::Report> after = reports_on(options.after, options.analysis);
  const auto has_steps = [](const analysis::Report& report) { return report.steps.has_value(); };
  const auto with_steps = std::count_if(before.begin(), before.end(), has_steps) +
                          std::count_if(after.begin(), after.end(), has_steps);
  if (with_steps != 0 && static_cast<std::size_t>(with_steps) != before.size() + after.size()) {
    // steps of some and whole runs of others are not alike
    options.analysis = {.whole_run = true};
    before = reports_on(options.before, options.analysis);
    after = reports_on(options.after, options.analysis);
  }
  const analysis::Diff compared = analysis::compare(before, after);
  if (!options.html.empty()) {
    write_page(analysis::to_html(compared, viz::page()), options.html, options.json);
  }
  if (options.json) {
    fmt::print("{}\n", analysis::to_json(compared));
  } else if (options.html.empty()) {
    fmt::print("{}", analysis::to_text(compared, wants_colours(), options.top));
  }
  return 0;
}

}  // namespace

void add_diff_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* const command = application.add_subcommand(
      "diff",
      "Compare recordings of two states of a program, and tell change from jitter where runs were repeated");
  CLI::Option* const pair = command->add_option("recordings", options->pair, "Before and after")
                                ->expected(2)
                                ->type_name("BEFORE AFTER");
  CLI::Option* const before =
      command->add_option("--before", options->before, "Recordings of repeated runs before")->excludes(pair);
  CLI::Option* const after =
      command->add_option("--after", options->after, "… and after")->excludes(pair)->needs(before);
  before->needs(after);
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Compare whole runs, not steps");
  command->add_option("--step", options->analysis.step_range, "The NVTX range that is a step of the program")
      ->excludes(whole_run);
  command->add_flag("--json", options->json, "Write JSON (schema penstock-diff-1) instead of text");
  command->add_option("--html", options->html, "Write a page for any browser instead, with both side by side")
      ->type_name("FILE")
      ->check([](const std::string& to) { return to.empty() ? "a name is missing" : ""; });
  command->add_option("--top", options->top, "Call sites shown")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] {
    if (options->pair.empty() && options->before.empty()) {
      throw CLI::RequiredError("two recordings, or --before … --after …,");
    }
    exit_code = diff(*options);
  });
}

}  // namespace penstock::cli
