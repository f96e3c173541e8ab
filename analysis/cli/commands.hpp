// The subcommands of `penstock`. Each function adds one to the command line; when called, the subcommand sets
// the exit code.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace penstock::cli {

void add_report_command(CLI::App& application, int& exit_code);
void add_diff_command(CLI::App& application, int& exit_code);
void add_trend_command(CLI::App& application, int& exit_code);
void add_scale_command(CLI::App& application, int& exit_code);
void add_export_command(CLI::App& application, int& exit_code);
/// `behind_separator`: the words from the first "--" of the command line on, which were not parsed.
void add_run_command(CLI::App& application, const std::vector<std::string>& behind_separator, int& exit_code);
void add_info_command(CLI::App& application, int& exit_code);
void add_tune_command(CLI::App& application, int& exit_code);
/// These tell of the commands that were added before, and of themselves.
void add_help_command(CLI::App& application, int& exit_code);
void add_completion_command(CLI::App& application, int& exit_code);
void add_man_command(CLI::App& application, int& exit_code);

}  // namespace penstock::cli
