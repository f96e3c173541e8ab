// The collectives in their spellings, so that a test is written once: with int or MPI_Count arguments,
// blocking or completed by MPI_Wait. Knows MPI only.
#pragma once

#include <mpi.h>

namespace penstock::test_support {

/// MPI_Bcast as Bcast and MPI_Ibcast as IBcast.
#define PENSTOCK_FUNCTIONS(Name, Iname, suffix) \
  static int Name(auto... arguments) {          \
    return MPI_##Name##suffix(arguments...);    \
  }                                             \
  static int I##Name(auto... arguments) {       \
    return MPI_##Iname##suffix(arguments...);   \
  }

#define PENSTOCK_ALL_FUNCTIONS(suffix)                                    \
  PENSTOCK_FUNCTIONS(Bcast, Ibcast, suffix)                               \
  PENSTOCK_FUNCTIONS(Gather, Igather, suffix)                             \
  PENSTOCK_FUNCTIONS(Gatherv, Igatherv, suffix)                           \
  PENSTOCK_FUNCTIONS(Scatter, Iscatter, suffix)                           \
  PENSTOCK_FUNCTIONS(Scatterv, Iscatterv, suffix)                         \
  PENSTOCK_FUNCTIONS(Reduce, Ireduce, suffix)                             \
  PENSTOCK_FUNCTIONS(Allgather, Iallgather, suffix)                       \
  PENSTOCK_FUNCTIONS(Allgatherv, Iallgatherv, suffix)                     \
  PENSTOCK_FUNCTIONS(Alltoall, Ialltoall, suffix)                         \
  PENSTOCK_FUNCTIONS(Alltoallv, Ialltoallv, suffix)                       \
  PENSTOCK_FUNCTIONS(Alltoallw, Ialltoallw, suffix)                       \
  PENSTOCK_FUNCTIONS(Allreduce, Iallreduce, suffix)                       \
  PENSTOCK_FUNCTIONS(Scan, Iscan, suffix)                                 \
  PENSTOCK_FUNCTIONS(Exscan, Iexscan, suffix)                             \
  PENSTOCK_FUNCTIONS(Reduce_scatter, Ireduce_scatter, suffix)             \
  PENSTOCK_FUNCTIONS(Reduce_scatter_block, Ireduce_scatter_block, suffix) \
  PENSTOCK_FUNCTIONS(Neighbor_allgather, Ineighbor_allgather, suffix)     \
  PENSTOCK_FUNCTIONS(Neighbor_allgatherv, Ineighbor_allgatherv, suffix)   \
  PENSTOCK_FUNCTIONS(Neighbor_alltoall, Ineighbor_alltoall, suffix)       \
  PENSTOCK_FUNCTIONS(Neighbor_alltoallv, Ineighbor_alltoallv, suffix)     \
  PENSTOCK_FUNCTIONS(Neighbor_alltoallw, Ineighbor_alltoallw, suffix)

struct SmallCounts {
  using Count = int;
  using Displacement = int;
  PENSTOCK_ALL_FUNCTIONS()
};

#if MPI_VERSION >= 4
struct LargeCounts {
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
  PENSTOCK_ALL_FUNCTIONS(_c)
};
#endif

#undef PENSTOCK_ALL_FUNCTIONS
#undef PENSTOCK_FUNCTIONS

enum class Form : unsigned char { blocking, nonblocking };

/// Calls one or the other form; the non-blocking one is waited for.
template <typename Blocking, typename Nonblocking>
int call(Form form, Blocking blocking, Nonblocking nonblocking) {
  if (form == Form::blocking) return blocking();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = nonblocking(&request);
  return code == MPI_SUCCESS ? MPI_Wait(&request, MPI_STATUS_IGNORE) : code;
}

/// Inside a template over `Mpi` (SmallCounts or LargeCounts) with a Form `form` in scope.
#define PENSTOCK_CALL(Name, ...)                    \
  penstock::test_support::call(                     \
      form, [&] { return Mpi::Name(__VA_ARGS__); }, \
      [&](MPI_Request* request) { return Mpi::I##Name(__VA_ARGS__, request); })

}  // namespace penstock::test_support
