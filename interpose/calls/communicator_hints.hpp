// Hints that programs give on their messages by info keys of a communicator. Stored here, as MPI libraries
// may drop keys that they do not know. Knows no message.
#pragma once

#include <mpi.h>

#include <optional>

namespace penstock::interpose {

/// `penstock_vertex_set`, "true" or "false": for the program, integers sent from one rank to another are a
/// set. They may therefore arrive in increasing order, whatever their order in memory. Must be the same on
/// all ranks.
inline constexpr const char* vertex_set_key = "penstock_vertex_set";

/// Returns the hint's value; nothing if the info has none or an invalid one.
[[nodiscard]] std::optional<bool> vertex_set_hint(MPI_Info info) noexcept;

/// Records the hints that the program gives for a communicator.
void note_hints(MPI_Comm communicator, MPI_Info info) noexcept;
/// Adds the communicator's known hints.
void add_hints(MPI_Comm communicator, MPI_Info info) noexcept;

}  // namespace penstock::interpose
