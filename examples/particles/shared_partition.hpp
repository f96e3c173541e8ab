// A partition that rank 0 makes for all. Knows no GPU.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <vector>

#include "examples/particles/partition.hpp"

namespace particles {

/// Of voxels with those weights, and written to files if options say so. Its complaint is rank 0's alone;
/// where there is one, all have no owners. Collective.
[[nodiscard]] Partition share_partition(const Options& options, const Box& box,
                                        const std::vector<std::uint8_t>& weights, MPI_Comm communicator);

}  // namespace particles
