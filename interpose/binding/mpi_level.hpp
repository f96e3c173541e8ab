// Says which of MPI-4's functions <mpi.h> declares: MPICH 4 and Open MPI 6 have all; Open MPI 5, which calls
// itself MPI-3.1, has all but those with large counts.
#pragma once

#include <mpi.h>

#define PENSTOCK_HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#ifdef OPEN_MPI
#define PENSTOCK_HAS_MPI_4 (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)
#else
#define PENSTOCK_HAS_MPI_4 (MPI_VERSION >= 4)
#endif
