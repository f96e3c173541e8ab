// Finds the MPI library. The preload library links none: its PMPI_* are trampolines of its own through a
// table of addresses. Open MPI's predefined handles (addresses of objects) are looked up the same way. The
// library therefore has no undefined MPI symbol, weak or strong, loads into any program, and finds an MPI
// that was opened later and privately (Python's). A compiler option includes this header first in every
// source of the preload library, for the handles; sources for programs that link MPI themselves do without.
// Knows nothing of wrappers.
#pragma once

#include <cstdint>

#ifdef PENSTOCK_BINDS_MPI
// MPI-1 functions that Open MPI exports but declares only on request, and with warnings
#define OMPI_OMIT_MPI1_COMPAT_DECLS 0
#define OMPI_WANT_MPI_INTERFACE_WARNING 0
#include "interpose/binding/mpi_header.hpp"
#else
#include <mpi.h>
#endif
#include "interpose/binding/mpi_level.hpp"

#if defined(OPEN_MPI) && defined(PENSTOCK_BINDS_MPI)
// No MPI_Datatype at namespace scope may be initialised with one of these: nothing is bound at that time.
#undef OMPI_PREDEFINED_GLOBAL
#define OMPI_PREDEFINED_GLOBAL(type, object) (static_cast<type>(penstock_address_of_##object))
extern "C" {
#define PENSTOCK_OBJECT(object) \
  __attribute__((visibility("hidden"))) extern void* penstock_address_of_##object;
#include "interpose/binding/open_mpi_objects.def"
}
#endif

#ifdef PENSTOCK_BINDS_MPI
// Functions of libraries newer than this <mpi.h>
extern "C" {
#define PENSTOCK_ROW(...)
#define PENSTOCK_NEWER_ROW(owner, waits, name, result, parameters, arguments) \
  result MPI_##name parameters;                                               \
  result PMPI_##name parameters;
#include "interpose/binding/mpi_functions.def"
}
#endif

namespace penstock::interpose {

enum class Function : std::uint16_t;  // function_names.hpp

enum class Binding {
  bound,
  no_mpi,        ///< no MPI library is loaded
  other_family,  ///< one is loaded, but of the family that this library is not built for
};

/// Finds the MPI library among the loaded ones and fills the table. Before that, or if there is none, every
/// PMPI function prints a line and returns MPI_ERR_OTHER. Once bound it stays bound. Thread: any. Cost: a
/// load when bound.
Binding bind_mpi() noexcept;

/// The same for a process that may have no MPI: inspects only libraries with the name of one, and prints
/// nothing. Returns true if bound.
[[nodiscard]] bool bind_mpi_quietly() noexcept;

/// Returns whether a loaded library may be MPI's, by its name. Errors: throws std::bad_alloc.
[[nodiscard]] bool may_have_mpi();

#ifdef PENSTOCK_BINDS_MPI
/// Returns true if the MPI library that was found has the function. It may be older than the <mpi.h> of the
/// build: those of MPI-3 lack all large counts. False before one is bound. Thread: any. Cost: two loads.
[[nodiscard]] bool has_function(Function function) noexcept;
#else
[[nodiscard]] inline bool has_function(Function /*function*/) noexcept {
  return true;  // the program links the MPI library of its <mpi.h>
}
#endif

/// Returns true if the code at an address is the MPI library's, of a component of it or of a tool that wraps
/// MPI behind this library, or this library's own; false for the program's, which calls MPI from callbacks,
/// and for Fortran bindings, by which it does. Thread: any. Cost: some 100 ns.
[[nodiscard]] bool is_inside_mpi(const void* address) noexcept;

/// Returns the MPI library's own symbol of a name that this library exports too; null if there is none.
/// Thread: any.
[[nodiscard]] void* find_mpi_symbol(const char* name) noexcept;

}  // namespace penstock::interpose
