// Who has come to a collective call? A rank that still has work of Penstock's to do for others must not
// disappear into a blocking call of the MPI library, and cannot take the non-blocking form instead: the two
// never match, and the other ranks do not know of its work. So every rank notes in node-shared memory that it
// has come; one with pending work goes on with it until all have, and only then enters the library's call,
// which nothing holds up any more. Knows no single collective.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// Notes that this rank has come to the next blocking collective of the communicator, and progresses until
/// the others have too if other ranks may be waiting for this one. Cost without pending work: one store.
void arrive(MPI_Comm communicator);

/// The call failed on this rank and the others do not know of it: it will be made again.
void take_back_arrival(MPI_Comm communicator) noexcept;

/// A collective returned this code: was it refused for its arguments, before it came to the other ranks?
[[nodiscard]] bool failed_alone(int code) noexcept;

}  // namespace penstock::interpose
