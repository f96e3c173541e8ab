// Tells what this build is: version, commit, for which MPIs and GPUs, and what it lacks. The version stands
// in CMakeLists.txt alone.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace penstock::cli {

/// "0.1.0"
[[nodiscard]] std::string_view version_number() noexcept;
/// Returns all of it, for `penstock --version`: two lines without the last line end, and a third
/// if it lacks something.
[[nodiscard]] std::string version_text();

struct Lack {
  std::string_view what;     ///< a library, or the page
  std::string_view without;  ///< what there is not
};
/// Returns what could have been in this build and is not.
[[nodiscard]] std::vector<Lack> lacks();

/// Returns whether this build is for the simulated GPU.
[[nodiscard]] bool is_for_simulated_gpu() noexcept;

}  // namespace penstock::cli
