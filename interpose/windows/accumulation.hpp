// The accumulates on a window of ours: MPI_Accumulate, MPI_Get_accumulate, MPI_Fetch_and_op,
// MPI_Compare_and_swap, and their forms with a request. Each is done when the call returns. Knows no epoch.
#pragma once

#include <mpi.h>

#include "interpose/windows/access.hpp"
#include "interpose/windows/window.hpp"

namespace penstock::interpose {

/// A buffer of the caller's.
struct CallersBuffer {
  const void* address = nullptr;
  MPI_Count count = 0;
  MPI_Datatype datatype = MPI_DATATYPE_NULL;
};

/// target = target ∘ origin. `result`: null, or where the target's earlier values go. `request`: null, or
/// receives a request that is complete. Returns the code of the call; may raise an MPI error. Errors:
/// UnreadableDatatype, std::bad_alloc.
int accumulate(const std::shared_ptr<Window>& window, const char* mpi_call, const CallersBuffer& origin,
               const CallersBuffer* result, const TargetPart& target, MPI_Op operation, MPI_Request* request);

/// target = target == compared ? origin : target; `result` becomes the target's earlier value. One element.
int compare_and_swap(Window& window, const void* origin, const void* compared, void* result,
                     const TargetPart& target);

}  // namespace penstock::interpose
