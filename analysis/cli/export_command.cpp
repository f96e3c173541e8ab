// penstock export: writes a recording in the format of another tool.
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/options/skip_options.hpp"
#include "analysis/cli/progress_bar.hpp"
#include "analysis/export/export.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::cli {
namespace {

namespace exports = analysis::exports;

volatile std::sig_atomic_t arrived_signal = 0;

struct Interrupted {};

/// Catches Ctrl-C and similar signals during its lifetime, so that a half-written export can be removed.
class NotedSignals {
 public:
  NotedSignals() {
    struct sigaction note {};
    note.sa_handler = [](int signal) { arrived_signal = signal; };
    for (std::size_t i = 0; i < signals.size(); ++i) {
      ::sigaction(signals[i], nullptr, &before_[i]);
      // an ignored signal stays ignored (nohup, a shell's background job)
      if (before_[i].sa_handler != SIG_IGN) ::sigaction(signals[i], &note, nullptr);
    }
  }
  ~NotedSignals() {
    for (std::size_t i = 0; i < signals.size(); ++i) ::sigaction(signals[i], &before_[i], nullptr);
  }
  NotedSignals(const NotedSignals&) = delete;
  NotedSignals& operator=(const NotedSignals&) = delete;
  static void check() {
    if (arrived_signal != 0) throw Interrupted{};
  }

 private:
  static constexpr std::array signals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, signals.size()> before_{};
};

int run_export(const exports::Request& request) {
  exports::Outcome outcome;
  try {
    const NotedSignals signals;
    PatientBar bar;
    outcome =
        exports::export_recording(request, [&](std::size_t done, std::size_t all, const std::string& what) {
          NotedSignals::check();
          bar.show(done, all, what);
        });
  } catch (const Interrupted&) {
    ::raise(arrived_signal);  // with its original effect
    return 1;
  }
  for (const analysis::Flaw& flaw : outcome.flaws) fmt::print(stderr, "penstock: {}\n", describe(flaw));
  for (const std::string& note : outcome.notes) fmt::print(stderr, "penstock: {}\n", note);
  fmt::print("{}: {} records, {}\n", request.to.string(), analysis::count_text(outcome.records),
             analysis::bytes_text(outcome.bytes));
  return 0;
}

struct FormatWords {
  exports::Format format;
  const char* option;
  const char* argument;
  const char* help;
};

constexpr FormatWords formats[] = {
    {exports::Format::perfetto, "--perfetto", "FILE", "Write a trace for https://ui.perfetto.dev"},
    {exports::Format::otf2, "--otf2", "DIR", "Write an OTF2 archive, for Vampir, Scalasca and Cube"},
    {exports::Format::csv, "--csv", "DIR", "Write tables (CSV), for pandas, R and spreadsheets"},
};

}  // namespace

void add_export_command(CLI::App& application, int& exit_code) {
  auto request = std::make_shared<exports::Request>();
  request->recording = "penstock-out";
  CLI::App* const command =
      application.add_subcommand("export", "Write a recording in the formats of other tools");
  command->add_option("recording", request->recording, "Directory of a recording, or one rank's file")
      ->type_name("RECORDING")
      ->capture_default_str();
  CLI::Option_group* const group = command->add_option_group("format", "One of");
  for (const FormatWords& words : formats) {
    group
        ->add_option_function<std::string>(
            words.option,
            [request, format = words.format](const std::string& to) {
              request->format = format;
              request->to = to;
            },
            words.help)
        ->type_name(words.argument)
        ->check([](const std::string& to) { return to.empty() ? "a name is missing" : ""; });
  }
  group->require_option(1);
  add_skip_options(*command, request->skip);
  command->add_flag("--force", request->replace, "Replace an earlier export of that name");
  command->callback([request, &exit_code] { exit_code = run_export(*request); });
}

}  // namespace penstock::cli
