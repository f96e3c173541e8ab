// Says of which family the MPI libraries are that share this <mpi.h>, and which functions it declares. MPICH
// 4 and Open MPI 6 have all of MPI-4's; Open MPI 5, which calls itself MPI-3.1, has all but those with large
// counts. The standard ABI (MPI-5) is a family of its own, whatever library is behind it: its handles and
// constants are the same with each, and it lacks what MPI-3 removed.
#pragma once

#include <mpi.h>

#include <cstdint>

#define PENSTOCK_HAS_LARGE_COUNTS (MPI_VERSION >= 4)
#ifdef OPEN_MPI
#define PENSTOCK_HAS_MPI_4 (MPI_VERSION >= 4 || OMPI_MAJOR_VERSION >= 5)
#else
#define PENSTOCK_HAS_MPI_4 (MPI_VERSION >= 4)
#endif

// A header whose handles are not the standard's defines the version as -1 (Open MPI 6), or not at all.
#if defined(MPI_ABI_VERSION) && MPI_ABI_VERSION > 0
#define PENSTOCK_HAS_REMOVED_FUNCTIONS 0
#else
#define PENSTOCK_HAS_REMOVED_FUNCTIONS 1
#endif

namespace penstock::interpose {

/// As recordings number them.
enum class MpiFamily : std::uint32_t { mpich = 1, open_mpi = 2, standard_abi = 3 };

#if !PENSTOCK_HAS_REMOVED_FUNCTIONS
inline constexpr MpiFamily mpi_family = MpiFamily::standard_abi;
#elif defined(OPEN_MPI)
inline constexpr MpiFamily mpi_family = MpiFamily::open_mpi;
#else
inline constexpr MpiFamily mpi_family = MpiFamily::mpich;
#endif

}  // namespace penstock::interpose
