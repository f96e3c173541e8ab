// CMake defines PENSTOCK_VERSION; PENSTOCK_FAMILIES, such as "mpich openmpi"; PENSTOCK_GPU_IS_SIMULATED
// and PENSTOCK_HAS_LIBDW and others, 0 or 1; and writes the header with PENSTOCK_COMMIT.
#include "analysis/cli/manual/version.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "penstock_commit.hpp"
#include "viz/embed/page.hpp"

namespace penstock::cli {
namespace {

/// Returns "MPICH and Open MPI", of the families that the build found.
std::string families() {
  constexpr std::string_view built = PENSTOCK_FAMILIES;
  std::vector<std::string_view> titles;
  const auto add = [&](std::string_view family, std::string_view title) {
    if (built.find(family) != std::string_view::npos) titles.push_back(title);
  };
  add("mpich", "MPICH");
  add("openmpi", "Open MPI");
  add("abi", "MPI ABI");
  const std::string_view last = titles.empty() ? "" : titles.back();
  if (!titles.empty()) titles.pop_back();
  return fmt::format("{}{}{}", fmt::join(titles, ", "), titles.empty() ? "" : " and ", last);
}

}  // namespace

std::string_view version_number() noexcept {
  return PENSTOCK_VERSION;
}

bool is_for_simulated_gpu() noexcept {
  return PENSTOCK_GPU_IS_SIMULATED != 0;
}

std::vector<Lack> lacks() {
  std::vector<Lack> all;
  const auto add = [&all](bool is_there, const Lack& lack) {
    if (!is_there) all.push_back(lack);
  };
  constexpr bool has_libelf = PENSTOCK_HAS_LIBELF != 0;
  add(has_libelf, {"libelf", "which MPI a program needs is not seen: the launcher or --mpi tells"});
  add(PENSTOCK_HAS_LIBDW != 0,
      {"libdw", has_libelf ? "call sites have no file and line" : "call sites are addresses"});
  add(PENSTOCK_HAS_PROTOZERO != 0, {"protozero", "no `penstock export --perfetto`"});
  add(PENSTOCK_HAS_OTF2 != 0, {"OTF2", "no `penstock export --otf2`"});
  add(!viz::page().empty(), {"page", "no --html (it takes npm to build)"});
  return all;
}

std::string version_text() {
  std::string lacked;
  for (const Lack& each : lacks()) {
    lacked += fmt::format("{}{}", lacked.empty() ? "\nwithout " : ", ", each.what);
  }
  constexpr std::string_view commit = PENSTOCK_COMMIT;
  return fmt::format("penstock {}{}\nfor {}; {}{}", version_number(),
                     commit.empty() ? std::string() : fmt::format(" (commit {})", commit), families(),
                     is_for_simulated_gpu() ? "simulated GPU, for trying it without one" : "NVIDIA GPUs",
                     lacked);
}

}  // namespace penstock::cli
