// Persistent collectives that the ranks carry out by themselves: each start begins an exchange anew, behind a
// request that stands for it. Knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/collectives/exchange.hpp"

namespace penstock::interpose {

/// Before this rank meets the others in the call: whether the lane that it would have (lanes.hpp) is free
/// here.
[[nodiscard]] bool has_free_lane(MPI_Comm communicator);

/// Makes the request of a persistent collective on which all ranks have agreed; `messages` is messages_of()
/// the communicator. Returns the code of the call, which `scope` is of.
int attach_exchange(const CallScope& scope, std::unique_ptr<ExchangePlan> plan, const char* mpi_call,
                    MPI_Comm communicator, MPI_Comm messages, MPI_Request* request);

}  // namespace penstock::interpose
