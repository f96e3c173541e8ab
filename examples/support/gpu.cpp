#include "examples/support/gpu.hpp"

#include <mpi.h>

#include <cstdio>
#include <cstdlib>

namespace example {

void end_job(cudaError_t error, const char* what) {
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

}  // namespace example
