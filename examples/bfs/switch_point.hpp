// Up to which size a set of vertices is sent faster as a list than as a bitmap, on this machine and in this
// way.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "examples/support/exchange.hpp"

namespace bfs {

/// At most `block_words`, the N / (32 R C) vertices whose list is as large as the bitmap; 0 where bitmaps are
/// always faster. Measured among the ranks of `communicator`, packing and unpacking included. Collective over
/// MPI_COMM_WORLD, the same on all ranks.
[[nodiscard]] std::int64_t measured_switch_point(example::Exchange exchange, MPI_Comm communicator,
                                                 std::int64_t block_words);

}  // namespace bfs
