// Plans how `penstock run` starts a program: which preload library, which environment. Decides and explains;
// changes and starts nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/cli/launch/mpi_family.hpp"

namespace penstock::cli {

inline constexpr const char* default_output = "penstock-out";

struct RunOptions {
  std::string output;               ///< empty: the user's PENSTOCK_OUTPUT, else default_output
  bool record = true;               ///< unless the user's PENSTOCK_RECORD is 0
  std::string window;               ///< empty: the whole run; else as PENSTOCK_WINDOW
  std::string ranks;                ///< empty: all; else as PENSTOCK_RANKS
  std::string keep_last;            ///< empty: the first records; else of the newest so many bytes
  std::string transport;            ///< empty: free choice
  bool everywhere = false;          ///< all ranks of the job run Penstock, on all nodes
  bool gpu_by_rank = false;         ///< each rank sees one GPU of its host
  std::optional<MpiFamily> family;  ///< empty: detect it
  std::vector<std::string> command;
};

struct LaunchPlan {
  std::filesystem::path program;                                 ///< to be executed
  std::vector<std::pair<std::string, std::string>> environment;  ///< to be set
  std::vector<std::string> notes;                                ///< lines for the user
  int refusal = 0;  ///< exit code if the program cannot be started (126, 127) or must not be (2), else 0
};

/// Returns the plan. `libraries`: the folder of libpenstock_<family>.so. The command must have at least one
/// word.
[[nodiscard]] LaunchPlan plan_launch(const RunOptions& options, const std::filesystem::path& libraries);

/// Searches PATH for names without a slash, as a shell does. Returns an empty path if there is none.
[[nodiscard]] std::filesystem::path find_program(const std::string& name);

/// Returns the folder of this command's preload libraries.
[[nodiscard]] std::filesystem::path library_folder();
/// Does the same for a command in that folder: its lib/ (build folder), else where `cmake --install` puts the
/// libraries.
[[nodiscard]] std::filesystem::path library_folder_of(const std::filesystem::path& commands_folder);
[[nodiscard]] std::filesystem::path preload_library(const std::filesystem::path& folder, MpiFamily family);

}  // namespace penstock::cli
