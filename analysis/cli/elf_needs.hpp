// What an executable says about itself: is it ELF, and which shared libraries does it need. Finds libraries
// as the loader would, near enough to read their needs in turn; loads and runs nothing.
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

/// Nothing if the file is no ELF file that can be read.
[[nodiscard]] std::optional<ElfNeeds> read_needs(const std::filesystem::path& file);

/// Where the loader looks for `library`, in its order. Empty if nowhere.
[[nodiscard]] std::filesystem::path find_library(const std::string& library,
                                                 const std::vector<std::string>& run_paths);

}  // namespace penstock::cli
