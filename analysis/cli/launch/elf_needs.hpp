// Reads whether a file is an ELF executable and which shared libraries it needs. Finds libraries nearly as
// the loader does, to read their needs in turn; loads and runs nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace penstock::cli {

struct ElfNeeds {
  std::vector<std::string> libraries;  ///< DT_NEEDED, in order
  std::vector<std::string> run_paths;  ///< DT_RUNPATH and DT_RPATH, $ORIGIN replaced
};

/// Returns nullopt if the file is not a readable ELF file.
[[nodiscard]] std::optional<ElfNeeds> read_needs(const std::filesystem::path& file);

/// Returns where the loader finds `library`, in its search order; empty if nowhere.
[[nodiscard]] std::filesystem::path find_library(const std::string& library,
                                                 const std::vector<std::string>& run_paths);

}  // namespace penstock::cli
