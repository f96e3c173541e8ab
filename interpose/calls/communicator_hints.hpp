// What programs say about their messages by info keys of a communicator. Kept here, as the MPI libraries may
// forget keys that they do not know. Knows no message.
#pragma once

#include <mpi.h>

#include <optional>

namespace penstock::interpose {

/// `penstock_vertex_set`, "true" or "false": integers sent from one rank to another are a set to the program,
/// so that they may arrive in increasing order whatever order they lie in. Must be the same on all ranks.
inline constexpr const char* vertex_set_key = "penstock_vertex_set";

/// What the info says of it; nothing if it does not, or is not valid.
[[nodiscard]] std::optional<bool> vertex_set_hint(MPI_Info info) noexcept;

/// The program gives hints for a communicator that is made.
void note_hints(MPI_Comm communicator, MPI_Info info) noexcept;
/// Adds what is known of the communicator.
void add_hints(MPI_Comm communicator, MPI_Info info) noexcept;

}  // namespace penstock::interpose
