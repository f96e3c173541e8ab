// Who has come to a collective call, and how will all carry it out? A rank that still has work of Penstock's
// to do for others must not disappear into a blocking call of the MPI library, and cannot take the
// non-blocking form instead: the two never match, and the other ranks do not know of its work. So every rank
// notes in node-shared memory that it has come; one with pending work goes on with it until all have, and
// only then enters the library's call, which nothing holds up any more.
//
// The same note says whether the rank has a device buffer. The first that has one makes the communicator one
// whose ranks meet: from then on each waits in its blocking collectives until all have come, so that all know
// the same of each other and decide alike. Once all of them meet, they can agree on non-blocking collectives,
// too (deferred_collectives.hpp). Knows no single collective.
#pragma once

#include <mpi.h>

#include "interpose/calls/communicators.hpp"
#include "interpose/collectives/meeting_between_nodes.hpp"
#include "interpose/node/agreement_ring.hpp"
#include "interpose/node/arrival_places.hpp"

namespace penstock::interpose {

/// Notes that this rank has come to the next blocking collective of the communicator, and what it would
/// prefer; progresses until the others have come too if they meet, or if other ranks may be waiting for this
/// one. Returns the same on all ranks; `library` if signatures differ, and unless all are on one node or all
/// of the job take part between nodes. Cost without pending work: one store if no rank prefers messages; else
/// until the last has come, and a load for each rank; of ranks on several nodes as meet_between_nodes().
Way arrive(MPI_Comm communicator, const Wish& wish = {});

/// A blocking call has just made that communicator, and all its ranks come here next. If all of them use a
/// GPU and are on one node, they agree on its non-blocking collectives from now on. In its blocking ones
/// nobody meets for that.
void arrive_at_new(MPI_Comm made);

/// Whether all ranks of it are on this node, run Penstock, and know that of each other.
[[nodiscard]] bool are_all_on_node(MPI_Comm communicator, CommunicatorInfo& info);

/// This rank has a device buffer in a non-blocking collective of a communicator on whose non-blocking
/// collectives nobody agrees yet.
void wish_for_deferral(CommunicatorInfo& info) noexcept;

/// The MPI library's call failed on this rank and the others do not know of it: it will be made again.
void take_back_arrival(MPI_Comm communicator) noexcept;

/// The communicator is about to be freed, which each rank does when it likes: nothing is waited for. What was
/// called goes on, and once nothing is left of it this rank is counted among those that have left.
void note_leaving(MPI_Comm communicator) noexcept;

}  // namespace penstock::interpose
