// Makes the calls of MPI's Fortran bindings reach the wrappers. These libraries convert Fortran's arguments
// and call C's functions: partly as MPI_*, where the wrappers come first as for any program, partly as
// PMPI_*. The latter calls are redirected to the wrappers, in the bindings' libraries alone; all conversions
// stay theirs. Knows no wrapper.
#pragma once

#include <cstdint>

namespace penstock::interpose {

enum class FortranCalls : std::uint8_t {
  none,    ///< no bindings are loaded
  seen,    ///< they reach the wrappers
  unseen,  ///< some go past them: the bindings call MPI in a way that is not known here
};

/// Redirects the calls of all bindings that are loaded. Happens by itself when this library is loaded, so
/// that MPI_Init is seen; MPI_Init does it once more for bindings that were loaded since. Later ones are seen
/// only if the program, too, opened MPI later than this library: MPI_Init then opens them first. Thread: any.
/// Errors: `unseen` if memory runs out.
[[nodiscard]] FortranCalls redirect_fortran_calls() noexcept;

}  // namespace penstock::interpose
