// Says at the end of a process that it used MPI where Penstock could not see it begin: through functions that
// were taken from the library's own handle (MPI.jl), or by sessions alone. Knows which wrappers were called
// while the interposer slept; no more.
#pragma once

#include "interpose/binding/function_names.hpp"

namespace penstock::interpose {

/// A wrapper was called before MPI_Init or after MPI_Finalize. Thread: any.
void note_call_while_asleep(Function function) noexcept;

}  // namespace penstock::interpose
