// The last moment at which MPI works. MPI_Finalize first deletes the attributes of MPI_COMM_SELF, last set
// first (MPI-4, 11.2.4), and calls whoever has them: programs and libraries (PETSc, HDF5) still communicate
// there. So what was set in MPI_Init is called after all of them. Knows not what is done then.
#pragma once

namespace penstock::interpose {

/// Has `function` called within PMPI_Finalize, when all callbacks of attributes that are set later have been.
/// Right after PMPI_Init. False: the MPI library did not take it. Not called at all if a callback before it
/// fails, where the MPI library then leaves the others out.
[[nodiscard]] bool call_last_in_finalize(void (*function)() noexcept) noexcept;

}  // namespace penstock::interpose
