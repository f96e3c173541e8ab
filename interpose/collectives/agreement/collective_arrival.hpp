// The ranks of a collective call note their arrival here and vote on how to carry it out. A rank with pending
// work for others must not disappear into a blocking call of the MPI library. It cannot call the non-blocking
// form instead: the two never match, and the other ranks do not know of its work. Therefore every rank notes
// its arrival in node-shared memory. A rank with pending work progresses until all have arrived, and only
// then enters the library's call, which nothing delays any more.
//
// The same note holds the rank's vote: whether it has a device buffer. The first rank that has one makes the
// ranks of the communicator meet: from then on each waits in its blocking collectives until all have arrived,
// so that all see the same votes and decide alike. Once all ranks meet, they can also agree on non-blocking
// collectives (deferred_collectives.hpp). This header knows no single collective.
#pragma once

#include <mpi.h>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/agreement/meeting_between_nodes.hpp"
#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/vote_slots.hpp"

namespace penstock::interpose {

/// Notes this rank's arrival at the next blocking collective of the communicator, and its vote. If the ranks
/// meet, or if others may be waiting for this rank, progresses until the others have arrived. Returns the
/// same on all ranks: `library` if signatures differ, and unless all are on one node or all of the job take
/// part between nodes. Cost without pending work: one store if no rank prefers messages; else the wait for
/// the last rank, and a load for each rank; for ranks on several nodes that of meet_between_nodes().
Decision arrive(MPI_Comm communicator, const Proposal& proposal = {});

/// Lets the ranks of a communicator that a blocking call has just made agree on its non-blocking collectives
/// from now on, if all use a GPU and are on one node. All its ranks call this next. Its blocking collectives
/// still do not meet.
void arrive_at_new(MPI_Comm made);

/// Returns whether all ranks of the communicator are on this node, run Penstock, and know that of each other.
[[nodiscard]] bool are_all_on_node(MPI_Comm communicator, CommunicatorInfo& info);

/// Notes that this rank has a device buffer in a non-blocking collective of a communicator whose ranks do not
/// agree on these yet.
void request_deferral(CommunicatorInfo& info) noexcept;

/// Takes back the arrival at a call that failed on this rank alone and will be repeated.
void take_back_arrival(MPI_Comm communicator) noexcept;

/// Notes that this rank is about to free the communicator. Each rank frees it when it likes, so this waits
/// for nothing. Calls in flight go on; once none is left, this rank counts among those that have left.
void note_leaving(MPI_Comm communicator) noexcept;

}  // namespace penstock::interpose
