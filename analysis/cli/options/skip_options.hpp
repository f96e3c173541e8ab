// The options that choose which functions of a call path are shown as call sites.
#pragma once

#include <CLI/CLI.hpp>

#include "analysis/pipeline/analyse.hpp"

namespace penstock::cli {

/// `skip` must outlive the parsing.
inline void add_skip_options(CLI::App& command, analysis::SkipPatterns& skip) {
  command
      .add_option("--skip", skip.more,
                  "Functions that only pass calls of MPI on, by name, source file or module: '*' stands for "
                  "anything; who calls them is the call site. May be given several times")
      ->type_name("PATTERN")
      ->allow_extra_args(false)  // otherwise it would take the recording for a second pattern
      ->check([](const std::string& pattern) { return pattern.empty() ? "a pattern is missing" : ""; });
  command.add_flag_callback(
      "--no-wrapper-list", [&skip] { skip.with_list = false; },
      "Skip nothing but what --skip says: without it, wrappers of PETSc, AMReX, Kokkos, mpi4py and "
      "others are skipped");
}

}  // namespace penstock::cli
