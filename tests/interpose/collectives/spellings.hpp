// The collectives in their spellings, so that a test is written once: with int or MPI_Count arguments,
// blocking, completed by MPI_Wait, or persistent and started several times. Knows MPI only.
#pragma once

#include <mpi.h>

#include <array>
#include <string_view>

#include "interpose/binding/mpi_level.hpp"

namespace penstock::test_support {

#if PENSTOCK_HAS_MPI_4
#define PENSTOCK_INIT(Name, suffix)                 \
  static int P##Name(auto... arguments) {           \
    return MPI_##Name##_init##suffix(arguments...); \
  }
#else
#define PENSTOCK_INIT(Name, suffix)       \
  static int P##Name(auto... /*all*/) {   \
    return MPI_ERR_UNSUPPORTED_OPERATION; \
  }
#endif
/// MPI_Bcast as Bcast, MPI_Ibcast as IBcast, and MPI_Bcast_init as PBcast.
#define PENSTOCK_FUNCTIONS(Name, Iname, suffix) \
  static int Name(auto... arguments) {          \
    return MPI_##Name##suffix(arguments...);    \
  }                                             \
  static int I##Name(auto... arguments) {       \
    return MPI_##Iname##suffix(arguments...);   \
  }                                             \
  PENSTOCK_INIT(Name, suffix)

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

#if PENSTOCK_HAS_LARGE_COUNTS
struct LargeCounts {
  using Count = MPI_Count;
  using Displacement = MPI_Aint;
  PENSTOCK_ALL_FUNCTIONS(_c)
};
#endif

#undef PENSTOCK_ALL_FUNCTIONS
#undef PENSTOCK_FUNCTIONS
#undef PENSTOCK_INIT

enum class Form : unsigned char { blocking, nonblocking, persistent };
#if PENSTOCK_HAS_MPI_4
inline constexpr std::array all_forms = {Form::blocking, Form::nonblocking, Form::persistent};
#else
inline constexpr std::array all_forms = {Form::blocking, Form::nonblocking};
#endif
[[nodiscard]] constexpr const char* name_of(Form form) {
  return form == Form::blocking ? "blocking" : form == Form::nonblocking ? "non-blocking" : "persistent";
}

/// Calls one of the forms; what is not blocking is waited for, what is persistent is started twice if it may
/// be.
template <typename Blocking, typename Nonblocking, typename Persistent>
int call(Form form, bool may_restart, Blocking blocking, Nonblocking nonblocking, Persistent initialise) {
  if (form == Form::blocking) return blocking();
  MPI_Request request = MPI_REQUEST_NULL;
  const int code = form == Form::nonblocking ? nonblocking(&request) : initialise(&request);
  if (code != MPI_SUCCESS) return code;
  if (form == Form::nonblocking) return MPI_Wait(&request, MPI_STATUS_IGNORE);
  int first_failure = MPI_SUCCESS;
  const auto note = [&](int result) {
    if (first_failure == MPI_SUCCESS) first_failure = result;
  };
  note(MPI_Start(&request));
  note(MPI_Wait(&request, MPI_STATUS_IGNORE));
  if (may_restart) {
    note(MPI_Startall(1, &request));
    note(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE));
  }
  note(MPI_Request_free(&request));
  return first_failure;
}

/// MPICH 4.0's own MPI_Scatter_init fails at its second start.
constexpr bool may_restart(std::string_view name) {
  return name != "Scatter";
}

/// Inside a template over `Mpi` (SmallCounts or LargeCounts) with a Form `form` in scope.
#define PENSTOCK_CALL(Name, ...)                                                                \
  penstock::test_support::call(                                                                 \
      form, penstock::test_support::may_restart(#Name), [&] { return Mpi::Name(__VA_ARGS__); }, \
      [&](MPI_Request* request) { return Mpi::I##Name(__VA_ARGS__, request); },                 \
      [&](MPI_Request* request) { return Mpi::P##Name(__VA_ARGS__, MPI_INFO_NULL, request); })

}  // namespace penstock::test_support
