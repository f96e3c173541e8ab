// The `penstock` command.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>
#include <vector>

#include "analysis/cli/commands.hpp"

int main(int argc, char** argv) {
  CLI::App application(
      "Moves GPU buffers over an MPI that knows no GPUs, and shows where communication is exposed.\n\n"
      "  mpiexec -n 4 penstock run ./app       preload, move, record\n"
      "  penstock report penstock-out          what was exposed, where and why\n"
      "  penstock diff before after            what became faster or slower\n"
      "  penstock trend runs/*                 how its steps changed from run to run\n"
      "  penstock scale runs/*                 what it would take on more ranks\n"
      "  penstock export --perfetto out.pftrace    the same run in Perfetto, Vampir (--otf2) or pandas "
      "(--csv)\n"
      "  penstock info                         what this machine offers\n"
      "  penstock tune                         measure it, so that transports are chosen by what it can do\n",
      "penstock");
  application.set_version_flag("--version", "penstock " PENSTOCK_VERSION);
  application.require_subcommand(1);
  // Words after "--" may be a program's own arguments and must not be parsed (CLI11 would parse them).
  std::vector<std::string> words(argv + 1, argv + argc);
  const auto separator = std::find(words.begin(), words.end(), "--");
  const std::vector<std::string> behind_separator(separator, words.end());
  words.erase(separator, words.end());
  std::reverse(words.begin(), words.end());  // the order that CLI11 expects

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
  try {
    application.parse(words);
  } catch (const CLI::ParseError& error) {
    return application.exit(error) == 0 ? 0 : exit_usage;
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: {}\n", error.what());
    return 1;
  }
  return exit_code;
}
