// Finds shared libraries nearly as the loader does; loads and runs nothing.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// Adds the folders of a DT_RUNPATH or DT_RPATH of `file`, with $ORIGIN replaced.
void add_run_paths(std::string_view list, const std::filesystem::path& file, std::vector<std::string>& to);

/// Returns where the loader finds `library`, in its search order; empty if nowhere.
[[nodiscard]] std::filesystem::path find_library(const std::string& library,
                                                 const std::vector<std::string>& run_paths);

}  // namespace penstock::cli
