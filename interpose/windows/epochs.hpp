// The calls that synchronise the members of a window of ours: one function for each MPI function, without its
// prefix. Each returns the code of the call and may raise an MPI error. Those that wait for some members
// record for whom: in `scope`, that of the call.
#pragma once

#include <mpi.h>

#include "interpose/calls/call_scope.hpp"
#include "interpose/windows/window.hpp"

namespace penstock::interpose::epochs {

int fence(Window& window, int assertion);
int lock(Window& window, int kind, int target, int assertion, CallScope& scope);
int lock_all(Window& window, int assertion, CallScope& scope);
int unlock(Window& window, int target);
int unlock_all(Window& window);
/// MPI_Win_flush and MPI_Win_flush_local; `mpi_call` names which.
int flush(Window& window, const char* mpi_call, int target);
int flush_all(Window& window, const char* mpi_call);
int sync(Window& window);
int post(Window& window, MPI_Group group);
int start(Window& window, MPI_Group group, CallScope& scope);
int complete(Window& window);
int wait(Window& window, CallScope& scope);
int test(Window& window, int* flag);

/// Ends all that this rank has begun, and waits for the others, before the window is freed. Returns an error
/// if an epoch is open.
int end_all(Window& window);

}  // namespace penstock::interpose::epochs
