// The `penstock` command.
#include <fmt/format.h>

#include <cstdio>
#include <exception>

#include "analysis/cli/commands.hpp"

int main(int argc, char** argv) {
  CLI::App application(
      "Moves GPU buffers over an MPI that knows no GPUs, and shows where communication is exposed.\n\n"
      "  mpiexec -n 4 penstock run ./app       preload, move, record\n"
      "  penstock report penstock-out          what was exposed, where and why\n"
      "  penstock info                         what this machine offers\n",
      "penstock");
  application.set_version_flag("--version", "penstock " PENSTOCK_VERSION);
  application.require_subcommand(1);
  int exit_code = 0;
  penstock::cli::add_run_command(application, exit_code);
  penstock::cli::add_report_command(application, exit_code);
  penstock::cli::add_info_command(application, exit_code);
  try {
    application.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return application.exit(error);
  } catch (const std::exception& error) {
    fmt::print(stderr, "penstock: {}\n", error.what());
    return 1;
  }
  return exit_code;
}
