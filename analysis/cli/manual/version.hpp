// Tells what this build is: version, commit, for which MPIs and GPUs. The version stands in CMakeLists.txt
// alone.
#pragma once

#include <string>
#include <string_view>

namespace penstock::cli {

/// "0.1.0"
[[nodiscard]] std::string_view version_number() noexcept;
/// Returns all of it, for `penstock --version`: two lines without the last line end.
[[nodiscard]] std::string version_text();

/// Returns whether this build is for the simulated GPU.
[[nodiscard]] bool is_for_simulated_gpu() noexcept;

}  // namespace penstock::cli
