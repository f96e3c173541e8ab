#include "analysis/cli/launch/mpi_family.hpp"

#include <cstdlib>
#include <deque>
#include <set>

#include "analysis/cli/launch/elf_needs.hpp"
#include "analysis/cli/launch/library_search.hpp"

namespace penstock::cli {

namespace {

struct Names {
  const char* name;
  const char* title;
};

Names names_of(MpiFamily family) noexcept {
  switch (family) {
    case MpiFamily::openmpi:
      return {"openmpi", "Open MPI"};
    case MpiFamily::abi:
      return {"abi", "MPI ABI"};
    case MpiFamily::mpich:
      break;
  }
  return {"mpich", "MPICH"};
}

}  // namespace

const char* name_of(MpiFamily family) noexcept {
  return names_of(family).name;
}

const char* title_of(MpiFamily family) noexcept {
  return names_of(family).title;
}

std::optional<MpiFamily> family_named(std::string_view name) noexcept {
  for (const MpiFamily family : all_mpi_families) {
    if (name == name_of(family)) {
      return family;
    }
  }
  return std::nullopt;
}

std::optional<MpiFamily> family_of_library(std::string_view library) noexcept {
  const auto is_version_of = [library](std::string_view name) {
    return library == name || (library.starts_with(name) && library.substr(name.size()).starts_with('.'));
  };
  // Open MPI's library has had the number 40 since version 3.
  for (const char* name :
       {"libmpi.so.40", "libmpi_mpifh.so.40", "libmpi_usempif08.so.40", "libmpi_cxx.so.40"}) {
    if (is_version_of(name)) {
      return MpiFamily::openmpi;
    }
  }
  // 0 is what MPICH 4.2 had before the standard, with other handles.
  if (is_version_of("libmpi_abi.so.1")) {
    return MpiFamily::abi;
  }
  // 12 is the ABI that MPICH, Intel MPI, MVAPICH and Cray MPI share: libmpich, libmpi, libmpifort,
  // libmpi_gnu_112 …
  const std::string_view name = library.substr(0, library.find(".so"));
  if (is_version_of(std::string(name) + ".so.12") && name.starts_with("libmpi")) {
    return MpiFamily::mpich;
  }
  return is_version_of("libmpich.so") ? std::optional(MpiFamily::mpich) : std::nullopt;
}

std::optional<MpiFamily> family_of_program(const std::filesystem::path& program) {
  std::set<std::string> seen;
  std::deque<std::filesystem::path> to_read{program};
  for (; !to_read.empty(); to_read.pop_front()) {
    const std::optional<ElfNeeds> needs = read_needs(to_read.front());
    if (!needs) {
      continue;
    }
    for (const std::string& library : needs->libraries) {
      if (const auto family = family_of_library(library)) {
        return family;
      }
    }
    for (const std::string& library : needs->libraries) {
      if (!seen.insert(library).second) {
        continue;
      }
      if (std::filesystem::path found = find_library(library, needs->run_paths); !found.empty()) {
        to_read.push_back(std::move(found));
      }
    }
  }
  return std::nullopt;
}

std::optional<MpiFamily> family_of_launcher() noexcept {
  if (std::getenv("OMPI_COMM_WORLD_RANK") != nullptr) {
    return MpiFamily::openmpi;
  }
  for (const char* const variable : {"PMI_RANK", "PALS_RANKID", "MV2_COMM_WORLD_RANK"}) {
    if (std::getenv(variable) != nullptr) {
      return MpiFamily::mpich;
    }
  }
  if (std::getenv("PMIX_RANK") != nullptr) {  // as of srun --mpi=pmix
    return MpiFamily::openmpi;
  }
  return std::nullopt;
}

}  // namespace penstock::cli
