// Which MPI a program was built for, and so which preload library it takes: told by the libraries that it
// needs, else (scripts, Python) by the launcher's environment. Starts nothing.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace penstock::cli {

enum class MpiFamily { mpich, openmpi };

[[nodiscard]] const char* name_of(MpiFamily family) noexcept;
[[nodiscard]] std::optional<MpiFamily> family_named(std::string_view name) noexcept;

/// By a library's file name: "libmpi.so.40" and its Fortran and C++ companions, "libmpich.so.12", …
[[nodiscard]] std::optional<MpiFamily> family_of_library(std::string_view library) noexcept;

/// The nearest MPI among the libraries that an ELF file needs, those that they need, and so on.
[[nodiscard]] std::optional<MpiFamily> family_of_program(const std::filesystem::path& program);

/// By the variables that the launcher gave this process.
[[nodiscard]] std::optional<MpiFamily> family_of_launcher() noexcept;

}  // namespace penstock::cli
