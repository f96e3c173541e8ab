// penstock scale: predicts a program's time on more ranks, from runs on several numbers of them.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "analysis/cli/analysis_progress.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/cli/common_steps.hpp"
#include "analysis/cli/options/cannot_be_told.hpp"
#include "analysis/cli/options/whole_number.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/pipeline/analyse.hpp"
#include "analysis/scaling/scaling_text.hpp"

namespace penstock::cli {
namespace {

struct ScaleOptions {
  std::vector<std::filesystem::path> recordings;
  std::vector<std::int32_t> ranks;
  analysis::AnalysisOptions analysis;
  bool json = false;
};

std::vector<analysis::Report> reports_on(const ScaleOptions& options) {
  std::vector<analysis::Report> reports;
  read_with_common_steps(
      options.analysis,
      [&](const analysis::AnalysisOptions& analysis) {
        reports.clear();
        for (const std::filesystem::path& each : options.recordings) {
          reports.push_back(with_progress(
              analysis, [&](const auto& with_bar) { return analysis::analyse(each, with_bar); }));
        }
      },
      [&] {
        std::vector<const analysis::Report*> all;
        add_reports(all, reports);
        return all;
      });
  return reports;
}

int scale(ScaleOptions options) {
  const std::vector<analysis::Report> reports = reports_on(options);
  if (!have_wanted_step("scale", options.recordings, reports)) {
    return cannot_be_told;
  }
  const auto largest = std::max_element(reports.begin(), reports.end(),
                                        [](const analysis::Report& left, const analysis::Report& right) {
                                          return left.world_size < right.world_size;
                                        });
  if (const std::string why = analysis::why_no_scaling(reports); !why.empty()) {
    fmt::print(stderr, "penstock scale: no prediction for other numbers of ranks: {}.\n", why);
    if (const std::string now = analysis::efficiencies_in_words(*largest); !now.empty()) {
      fmt::print(stderr, "penstock scale: {}.\n", now);
    }
    return cannot_be_told;
  }
  if (options.ranks.empty()) {
    options.ranks = {2 * largest->world_size, 4 * largest->world_size};
  }
  const analysis::Scaling result = analysis::scale(reports, options.ranks);
  fmt::print("{}", options.json ? analysis::to_json(result) + "\n"
                                : analysis::to_text(result, wants_colours(), report_columns()));
  return 0;
}

}  // namespace

void add_scale_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<ScaleOptions>();
  options->analysis.threads = 0;
  CLI::App* const command = application.add_subcommand(
      "scale",
      "Predict the time on more ranks, with its error, from recordings on at least three numbers of ranks");
  command->add_option("recordings", options->recordings, "Of runs that differ in their number of ranks")
      ->required()
      ->type_name("RECORDING");
  command
      ->add_option("--ranks", options->ranks,
                   "Numbers of ranks to predict, such as 64,128, instead of twice and four times the largest")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(whole_number(1, most_ranks_named));
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Whole runs, not steps");
  command->add_option("--step", options->analysis.step_range, "The NVTX range that is a step of the program")
      ->type_name("RANGE")
      ->excludes(whole_run);
  command->add_flag("--json", options->json, "Write JSON (schema penstock-scale-1) instead of text");
  command->callback([options, &exit_code] { exit_code = scale(*options); });
}

}  // namespace penstock::cli
