// Reads whether a file is an ELF executable and which shared libraries it needs. In a build without libelf no
// file is readable, and why_no_needs() says so.
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

/// Returns an empty string if this build reads files, else why not.
[[nodiscard]] std::string why_no_needs();

}  // namespace penstock::cli
