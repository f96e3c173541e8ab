// The file replaces elf_needs.cpp in a build that has no libelf.
#include "analysis/cli/launch/elf_needs.hpp"

namespace penstock::cli {

std::optional<ElfNeeds> read_needs(const std::filesystem::path& /*file*/) {
  return std::nullopt;
}

std::string why_no_needs() {
  return "this build of Penstock has no libelf, so it does not see which MPI a program needs";
}

}  // namespace penstock::cli
