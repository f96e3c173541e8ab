// The last moment at which MPI works. MPI_Finalize first deletes the attributes of MPI_COMM_SELF, the last
// set one first (MPI-4, 11.2.4), and calls their callbacks, in which programs and libraries (PETSc, HDF5)
// still communicate. A callback set in MPI_Init therefore runs after all of them. Knows not what it does.
#pragma once

namespace penstock::interpose {

/// Calls `function` within PMPI_Finalize, after all callbacks of attributes that are set later. Call this
/// right after PMPI_Init. Returns false if the MPI library refused it. `function` is not called if an earlier
/// callback fails and the MPI library then skips the others.
[[nodiscard]] bool call_last_in_finalize(void (*function)() noexcept) noexcept;

}  // namespace penstock::interpose
