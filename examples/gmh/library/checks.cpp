#include "examples/gmh/library/checks.hpp"

#include <mpi.h>

namespace gmh {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  cudaGetLastError();  // clears the error, which is reported by GMH from here on
  fail(error == cudaErrorMemoryAllocation ? GMH_ERR_MEMORY : GMH_ERR_CUDA, "cannot %s: %s", what,
       cudaGetErrorString(error));
}

bool is_done(cudaError_t queried, const char* what) {
  if (queried == cudaErrorNotReady) {
    cudaGetLastError();
    return false;
  }
  check(queried, what);
  return true;
}

void check_mpi(int error, const char* what) {
  if (error == MPI_SUCCESS) return;
  char description[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(error, description, &length);
  fail(GMH_ERR_MPI, "cannot %s: %s", what, description);
}

}  // namespace gmh
