// penstock report: reads a recording and says what was exposed.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "analysis/analyse.hpp"
#include "analysis/cli/commands.hpp"
#include "analysis/report_json.hpp"
#include "analysis/report_text.hpp"

namespace penstock::cli {
namespace {

struct ReportOptions {
  std::filesystem::path recording = "penstock-out";
  bool json = false;
  analysis::AnalysisOptions analysis;
  std::size_t top = analysis::TextOptions{}.top;
};

/// Colours are for people: a terminal, and nobody has asked for none (https://no-color.org).
bool wants_colours() {
  const char* const no_color = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  return ::isatty(STDOUT_FILENO) != 0 && (no_color == nullptr || *no_color == '\0') && terminal != nullptr &&
         std::string_view(terminal) != "dumb";
}

int report(const ReportOptions& options) {
  const analysis::Report result = analysis::analyse(options.recording, options.analysis);
  if (options.json) {
    fmt::print("{}\n", analysis::to_json(result));
  } else {
    fmt::print("{}", analysis::to_text(result, {wants_colours(), options.top}));
  }
  return 0;
}

}  // namespace

void add_report_command(CLI::App& application, int& exit_code) {
  auto options = std::make_shared<ReportOptions>();
  CLI::App* const command = application.add_subcommand(
      "report", "Show where communication was exposed, by cause, place, rank and transport");
  command->add_option("recording", options->recording, "Directory of a recording, or one rank's file")
      ->capture_default_str();
  command->add_flag("--json", options->json, "Write JSON (schema penstock-report-1) instead of text");
  command->add_option("--rank", options->analysis.only_rank, "Figures of this rank alone")
      ->check(CLI::NonNegativeNumber);
  CLI::Option* const whole_run =
      command->add_flag("--whole-run", options->analysis.whole_run, "Count start-up and shutdown, too");
  command
      ->add_option("--step", options->analysis.step_range,
                   "The NVTX range that is a step of the program, instead of what is found")
      ->excludes(whole_run);
  command->add_option("--top", options->top, "Rows of each list")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  command->callback([options, &exit_code] { exit_code = report(*options); });
}

}  // namespace penstock::cli
