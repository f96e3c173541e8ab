// Turns error codes of CUDA and MPI into exceptions.
#pragma once

#include <cuda_runtime_api.h>

#include "examples/gmh/library/error.hpp"

namespace gmh {

/// Throws unless the call succeeded. `what` is the failed action, as in "copy to the host".
void check(cudaError_t error, const char* what);
void check_mpi(int error, const char* what);
/// Returns false while the queried work is pending; throws on errors.
[[nodiscard]] bool is_done(cudaError_t queried, const char* what);

}  // namespace gmh
