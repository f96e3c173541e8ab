// A library of a program's own that wraps MPI, and one that is all headers.
#pragma once

#include <mpi.h>

/// Adds `value` up over all ranks of a communicator.
double communicate(double value, MPI_Comm communicator);

namespace Kokkos {

/// Inlined into whoever calls it, as a header's functions are.
[[gnu::always_inline]] inline void fence_ranks() {
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace Kokkos
