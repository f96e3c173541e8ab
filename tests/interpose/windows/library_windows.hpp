// What the MPI library can do with windows of host memory.
#pragma once

#include <mpi.h>

namespace penstock::windows {

/// Open MPI 4.1 makes no windows of given host memory over some transports. The same on all ranks, which
/// must all come to the first call.
inline bool library_makes_windows() {
  static const bool makes = [] {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    MPI_Comm_set_errhandler(own, MPI_ERRORS_RETURN);
    int memory = 0;
    MPI_Win window = MPI_WIN_NULL;
    const bool is_made =
        MPI_Win_create(&memory, sizeof memory, 1, MPI_INFO_NULL, own, &window) == MPI_SUCCESS;
    if (is_made) MPI_Win_free(&window);
    MPI_Comm_free(&own);
    return is_made;
  }();
  return makes;
}

}  // namespace penstock::windows
