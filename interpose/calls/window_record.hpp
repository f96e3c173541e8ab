// Numbers windows in the recording as communicators are numbered, so that the report joins the calls in which
// the members of a window meet. Knows neither epochs nor memory.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/calls/call_scope.hpp"

namespace penstock::interpose {

/// Numbers a window that a collective call on the communicator has made. `scope`: that call's, which has been
/// recorded as such. Nothing of these happens where nothing is recorded, or memory runs out.
void number_window(const CallScope& scope, MPI_Comm communicator, MPI_Win window) noexcept;
void forget_window_number(MPI_Win window) noexcept;

/// Records that the call is the next collective one on the window.
void record_meeting(CallScope& scope, MPI_Win window) noexcept;

/// Records on which window the call is.
void record_window(CallScope& scope, MPI_Win window) noexcept;

/// Records that the call accesses so many bytes of a target's memory. `target`: a rank of the window.
void record_access(CallScope& scope, MPI_Win window, int target, std::uint64_t bytes) noexcept;

/// Records that the call waits for a member of the window: the last one is that for whom it has waited at its
/// end. `member`: -1: for members that are not known.
void record_wait(CallScope& scope, MPI_Win window, int member) noexcept;

}  // namespace penstock::interpose
