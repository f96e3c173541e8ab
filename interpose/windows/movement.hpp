// MPI_Put and MPI_Get on a window of ours, and their forms with a request. Knows neither epochs nor
// accumulates.
#pragma once

#include <mpi.h>

#include "interpose/windows/access.hpp"
#include "interpose/windows/window.hpp"

namespace penstock::interpose {

/// Begins the copy. `request`: null, or receives the request of the operation. Returns the code of the call;
/// may raise an MPI error. Errors: UnreadableDatatype, std::bad_alloc.
int move(const std::shared_ptr<Window>& window, const char* mpi_call, Direction direction, const void* origin,
         MPI_Count count, MPI_Datatype datatype, const TargetPart& target, MPI_Request* request);

/// Gives the user a request that completes with the operation.
void attach_operation(const std::shared_ptr<Window>& window, const char* mpi_call,
                      std::shared_ptr<WindowOperation> operation, MPI_Request* request);

}  // namespace penstock::interpose
