// Persistent collectives that the ranks carry out by themselves: each start begins an exchange anew, behind a
// request that stands for it. Knows no single collective.
#pragma once

#include <mpi.h>

#include <memory>

#include "interpose/collectives/exchange.hpp"

namespace penstock::interpose {

/// Each has a lane of its own, numbered as all ranks number it, since several may be under way at once and be
/// started in any order. False: the tags of that communicator are used up.
[[nodiscard]] bool has_free_lane(MPI_Comm communicator) noexcept;

/// Makes the request of a persistent collective on which all ranks have agreed; `messages` is messages_of()
/// the communicator. Returns the code of the call, which `scope` is of.
int attach_exchange(const CallScope& scope, std::unique_ptr<ExchangePlan> plan, const char* mpi_call,
                    MPI_Comm communicator, MPI_Comm messages, MPI_Request* request);

}  // namespace penstock::interpose
