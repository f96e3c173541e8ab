// The communicators whose messages carry out the collectives of the program's communicators. Made once for
// each, at its first such collective or ahead of it (spare_communicators.hpp). Knows no collective.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

struct CommunicatorInfo;

/// Returns the communicator of the messages that carry out the collectives of `communicator`, apart from the
/// program's own messages. It has the same topology, as the library's function may be called on it, too. Made
/// at the first call, in which all ranks take part. Null, on all of them: the MPI library could not make one.
[[nodiscard]] MPI_Comm messages_of(MPI_Comm communicator);
/// Notes that this rank is about to use it in non-blocking collectives. Returns false, on all ranks, if it
/// was given back.
[[nodiscard]] bool take_into_use(CommunicatorInfo& info) noexcept;
/// Releases it, as all ranks are about to free the communicator. Persistent collectives keep what they hold
/// of it until the last of them ends.
void free_messages_of(MPI_Comm communicator);

}  // namespace penstock::interpose
