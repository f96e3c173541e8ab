// Classifies MPI functions by name, in the terms of trace formats. Must not know any format.
#pragma once

#include <cstdint>
#include <string_view>

namespace penstock::analysis::exports {

/// The blocking collective operations; those that create and free communicators are collective, too.
enum class Collective : std::uint8_t {
  none,
  barrier,
  bcast,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  alltoallw,
  allreduce,
  reduce,
  reduce_scatter,
  reduce_scatter_block,
  scan,
  exscan,
  create_communicator,
  free_communicator,
};

enum class Role : std::uint8_t {
  other,
  point_to_point,
  barrier,
  one_to_all,
  all_to_one,
  all_to_all,
  other_collective,
  one_sided,
  file,
};

/// "MPI_Bcast" and "MPI_Bcast_c" are bcast; "MPI_Ibcast" is none, because it is not complete when it returns.
[[nodiscard]] Collective collective_of(std::string_view function);
/// Covers non-blocking and persistent forms, too.
[[nodiscard]] Role role_of(std::string_view function);

}  // namespace penstock::analysis::exports
