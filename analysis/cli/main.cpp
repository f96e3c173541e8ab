// The `penstock` command.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"
#include "analysis/cli/manual/help_format.hpp"
#include "analysis/cli/manual/version.hpp"
#include "analysis/cli/terminal.hpp"
#include "analysis/cli/unknown_command.hpp"
#include "analysis/cli/written_output.hpp"

int main(int argc, char** argv) {
  CLI::App application(
      "Moves GPU buffers over an MPI that knows no GPUs, and shows where communication is exposed.\n\n"
      "  mpiexec -n 4 penstock run ./app       preload, move, record\n"
      "  penstock report penstock-out          what was exposed, where and why\n"
      "  penstock diff before after            what became faster or slower\n"
      "  penstock trend runs/*                 how its steps changed from run to run\n"
      "  penstock scale runs/*                 what it would take on more ranks\n"
      "  penstock export --csv tables          the same run in pandas, Perfetto (--perfetto) or Vampir "
      "(--otf2)\n"
      "  penstock info                         what this machine offers\n"
      "  penstock tune                         measure it, so that transports are chosen by what it can do\n",
      "penstock");
  application.set_version_flag("--version", penstock::cli::version_text(),
                               "Print version and commit, and for which MPIs and GPUs this was built");
  application.require_subcommand(1);
  application.formatter(std::make_shared<penstock::cli::HelpFormat>(penstock::cli::screen()));
  // Behind `run`, words after "--" may be a program's own arguments and must not be parsed (CLI11 would).
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool runs = !words.empty() && words.front() == "run";
  const auto separator = runs ? std::find(words.begin(), words.end(), "--") : words.end();
  const std::vector<std::string> behind_separator(separator, words.end());
  words.erase(separator, words.end());

  constexpr int exit_usage = 2;
  int exit_code = 0;
  penstock::cli::add_run_command(application, behind_separator, exit_code);
  penstock::cli::add_report_command(application, exit_code);
  penstock::cli::add_diff_command(application, exit_code);
  penstock::cli::add_trend_command(application, exit_code);
  penstock::cli::add_scale_command(application, exit_code);
  penstock::cli::add_export_command(application, exit_code);
  penstock::cli::add_info_command(application, exit_code);
  penstock::cli::add_tune_command(application, exit_code);
  penstock::cli::add_completion_command(application, exit_code);
  penstock::cli::add_man_command(application, exit_code);
  penstock::cli::add_help_command(application, exit_code);
  application.footer(
      "Exit codes: 0; 1 after an error; 2 after wrong use; 3 if a condition of --fail-if holds; 4 if "
      "something cannot be told. "
      "`penstock run` ends as the program does, with 126 if it cannot be executed and 127 if it is not "
      "there.");
  if (const std::string why = penstock::cli::why_no_command(application, words); !why.empty()) {
    fmt::print(stderr, "penstock: {}\nRun with --help for more information.\n", why);
    return exit_usage;
  }
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects
  try {
    application.parse(words);
  } catch (const CLI::ParseError& error) {
    return penstock::cli::code_once_written(application.exit(error) == 0 ? 0 : exit_usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: {}\n", error.what());
    return 1;
  }
  return penstock::cli::code_once_written(exit_code);
}
