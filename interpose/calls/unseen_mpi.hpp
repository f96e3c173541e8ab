// Prints at the end of a process that it used MPI although Penstock saw no MPI_Init. The program took
// functions from the library's own handle (MPI.jl), or used sessions only. Knows only which wrappers were
// called while the interposer was asleep.
#pragma once

#include "interpose/binding/function_names.hpp"

namespace penstock::interpose {

/// Records a wrapper's call before MPI_Init or after MPI_Finalize. Thread: any.
void note_call_while_asleep(Function function) noexcept;
/// Returns whether a session has begun before MPI_Init, and has not ended. Thread: any.
[[nodiscard]] bool has_session_before_init() noexcept;

}  // namespace penstock::interpose
