// Persistent collectives that the ranks carry out themselves: each start begins a new run, behind a
// request that stands for it. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/collectives/agreement/message_communicators.hpp"
#include "interpose/collectives/schedules/schedule.hpp"

namespace penstock::interpose {

/// Returns whether the tag range that the call would get (tag_ranges.hpp) is free here. Call it before this
/// rank votes.
[[nodiscard]] bool has_free_tags(MPI_Comm communicator);

/// Makes the request of a persistent collective on which all ranks have agreed; `messages` is messages_of()
/// the communicator, and `schedule` outlives the call. Returns the code of the call of `scope`.
int attach_persistent_schedule(const CallScope& scope, std::unique_ptr<Schedule> schedule,
                               const char* mpi_call, MPI_Comm communicator, MPI_Comm messages,
                               MPI_Request* request);

}  // namespace penstock::interpose
