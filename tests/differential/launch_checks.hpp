// What a launch can check only once: calls in MPI_Finalize, and more communicators than a program may seem to
// need. Results are known, so that no plain run is needed.
#pragma once

namespace penstock::differential {

/// Makes a delete callback of MPI_COMM_SELF send, receive and reduce when MPI_Finalize calls it. Keeps a
/// communicator and memory until then. Collective.
void call_mpi_in_finalize(bool host_only);
/// After MPI_Finalize: whether the callback ran and saw nothing wrong, or was not asked for.
[[nodiscard]] bool finalize_went_well();

/// How many messages of all ranks were written to posted receives so far. Collective.
[[nodiscard]] long messages_written();

/// Makes and frees so many communicators, with collectives on some of them; how much was wrong on this rank.
/// Collective.
[[nodiscard]] int use_many_communicators(int count, bool host_only);

}  // namespace penstock::differential
