// CMake defines PENSTOCK_VERSION; PENSTOCK_FAMILIES, such as "mpich openmpi"; PENSTOCK_GPU_IS_SIMULATED, 0 or
// 1; and writes the header with PENSTOCK_COMMIT.
#include "analysis/cli/manual/version.hpp"

#include <fmt/format.h>

#include "penstock_commit.hpp"

namespace penstock::cli {
namespace {

/// Returns "MPICH and Open MPI", of the families that the build found.
std::string families() {
  constexpr std::string_view built = PENSTOCK_FAMILIES;
  const bool mpich = built.find("mpich") != std::string_view::npos;
  const bool openmpi = built.find("openmpi") != std::string_view::npos;
  return fmt::format("{}{}{}", mpich ? "MPICH" : "", mpich && openmpi ? " and " : "",
                     openmpi ? "Open MPI" : "");
}

}  // namespace

std::string_view version_number() noexcept {
  return PENSTOCK_VERSION;
}

bool is_for_simulated_gpu() noexcept {
  return PENSTOCK_GPU_IS_SIMULATED != 0;
}

std::string version_text() {
  constexpr std::string_view commit = PENSTOCK_COMMIT;
  return fmt::format("penstock {}{}\nfor {}; {}", version_number(),
                     commit.empty() ? std::string() : fmt::format(" (commit {})", commit), families(),
                     is_for_simulated_gpu() ? "simulated GPU, for trying it without one" : "NVIDIA GPUs");
}

}  // namespace penstock::cli
