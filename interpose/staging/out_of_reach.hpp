// Decides whether the MPI library can access a buffer, for calls that accept no device buffers. Knows no
// single MPI function.
#pragma once

#include <mpi.h>

namespace penstock::interpose {

/// True for device memory. Managed memory is allowed, as the host, and so the MPI library, can access it.
[[nodiscard]] bool is_out_of_reach(const void* buffer);
/// The same; with an absolute address, the datatype determines where the buffer is. Errors:
/// UnreadableDatatype, std::bad_alloc.
[[nodiscard]] bool is_out_of_reach(const void* buffer, MPI_Count count, MPI_Datatype datatype);

}  // namespace penstock::interpose
