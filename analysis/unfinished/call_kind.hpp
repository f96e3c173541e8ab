// Says what an MPI call waits for, by its name. Must not know recordings.
#pragma once

#include <string_view>

namespace penstock::analysis {

struct CallKind {
  bool sends = false;
  bool receives = false;   ///< or waits for a message, as MPI_Probe does
  bool completes = false;  ///< operations that were posted before
  bool any_is_enough = false;
  bool is_blocking = true;     ///< false: it posts, or initialises, what a later call completes
  bool is_persistent = false;  ///< it initialises an operation that may be started again and again
};

/// "MPI_Send_c" is like "MPI_Send". Collectives are told by their ordinal, not here.
[[nodiscard]] CallKind kind_of_call(std::string_view function);
/// Returns true for "MPI_Ibarrier" and its like.
[[nodiscard]] bool is_nonblocking_collective(std::string_view function);
/// Returns true for "MPI_Neighbor_alltoall" and its like, which wait for neighbours alone; who these are is
/// not recorded.
[[nodiscard]] bool is_among_neighbours(std::string_view function);

}  // namespace penstock::analysis
