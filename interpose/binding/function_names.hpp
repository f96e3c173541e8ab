// The MPI functions of this library's family as an enumeration, with their properties from the table. Knows
// the table only.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "interpose/binding/mpi_level.hpp"

namespace penstock::interpose {

enum class Function : std::uint16_t {
#define PENSTOCK_ROW(owner, waits, name, ...) name,
#include "interpose/binding/mpi_functions.def"
};

inline constexpr std::size_t function_count = 0
#define PENSTOCK_ROW(...) +1
#include "interpose/binding/mpi_functions.def"
    ;

namespace detail {

enum class Waiting : bool { local = false, waits = true };

inline constexpr const char* names[] = {
#define PENSTOCK_ROW(owner, waits, name, ...) "MPI_" #name,
#include "interpose/binding/mpi_functions.def"
};

inline constexpr Waiting waiting[] = {
#define PENSTOCK_ROW(owner, waits, ...) Waiting::waits,
#include "interpose/binding/mpi_functions.def"
};

inline constexpr bool only_passed_on[] = {
#define PENSTOCK_ROW(owner, ...) std::string_view(#owner) == "pass",
#include "interpose/binding/mpi_functions.def"
};

}  // namespace detail

/// Returns the name with its prefix: "MPI_Send". A literal.
[[nodiscard]] constexpr const char* name_of(Function function) noexcept {
  return detail::names[static_cast<std::size_t>(function)];
}

/// The same for both sizes of counts: "MPI_Put" for MPI_Put_c, too.
[[nodiscard]] constexpr std::string_view name_without_c(Function function) noexcept {
  std::string_view name = name_of(function);
  if (name.ends_with("_c")) name.remove_suffix(2);
  return name;
}

/// Returns true if Penstock does nothing in the call but to record it.
[[nodiscard]] constexpr bool is_only_passed_on(Function function) noexcept {
  return detail::only_passed_on[static_cast<std::size_t>(function)];
}

/// Returns true if the call may last until another rank does something.
[[nodiscard]] constexpr bool waits(Function function) noexcept {
  return detail::waiting[static_cast<std::size_t>(function)] == detail::Waiting::waits;
}

}  // namespace penstock::interpose
