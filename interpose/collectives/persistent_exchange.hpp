// Persistent collectives that the ranks carry out themselves: each start begins a new exchange, behind a
// request that stands for it. This header knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/collectives/exchange.hpp"

namespace penstock::interpose {

/// Returns whether the lane that the call would get (lanes.hpp) is free here. Call it before this rank votes.
[[nodiscard]] bool has_free_lane(MPI_Comm communicator);

/// Makes the request of a persistent collective on which all ranks have agreed; `messages` is messages_of()
/// the communicator. Returns the code of the call of `scope`.
int attach_exchange(const CallScope& scope, std::unique_ptr<ExchangePlan> plan, const char* mpi_call,
                    MPI_Comm communicator, MPI_Comm messages, MPI_Request* request);

}  // namespace penstock::interpose
