// Detects which MPI a program was built for, and so its preload library: from the libraries that it needs,
// else (scripts, Python) from the launcher's environment. Starts nothing.
#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::cli {

/// The libraries that a program may be started with, once it is built: MPICH and those that share its ABI;
/// Open MPI; any with MPI-5's standard ABI.
enum class MpiFamily { mpich, openmpi, abi };
inline constexpr std::array all_mpi_families{MpiFamily::mpich, MpiFamily::openmpi, MpiFamily::abi};

/// As in file names and on the command line.
[[nodiscard]] const char* name_of(MpiFamily family) noexcept;
/// As users know it: "Open MPI".
[[nodiscard]] const char* title_of(MpiFamily family) noexcept;
[[nodiscard]] std::optional<MpiFamily> family_named(std::string_view name) noexcept;

/// Returns the family by a library's file name: "libmpi.so.40" and its Fortran and C++ companions,
/// "libmpich.so.12", "libmpi_abi.so.1", …
[[nodiscard]] std::optional<MpiFamily> family_of_library(std::string_view library) noexcept;

/// Returns the nearest MPI among the libraries that an ELF file needs, directly or indirectly.
[[nodiscard]] std::optional<MpiFamily> family_of_program(const std::filesystem::path& program);

/// Returns the family by the launcher's variables in this process's environment.
[[nodiscard]] std::optional<MpiFamily> family_of_launcher() noexcept;

}  // namespace penstock::cli
