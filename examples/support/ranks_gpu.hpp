// Which GPU a rank uses.
#pragma once

#include <mpi.h>

#include "examples/support/gpu.hpp"

namespace example {

/// The ranks of a node share its visible GPUs in turn. Collective over MPI_COMM_WORLD.
inline void choose_gpu() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int local_rank = 0;
  MPI_Comm_rank(node, &local_rank);
  MPI_Comm_free(&node);
  int gpu_count = 0;
  check(cudaGetDeviceCount(&gpu_count), "count the GPUs");
  check(cudaSetDevice(local_rank % gpu_count), "choose a GPU");
}

}  // namespace example
