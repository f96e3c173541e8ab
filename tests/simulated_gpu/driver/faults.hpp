// Errors on demand, of driver and runtime functions, as SIMULATED_GPU_FAULTS says
// (tests/support/fault_table.hpp).
#pragma once

#include <cuda.h>

namespace simulated_gpu {

/// The error that this call of `function` is to return; CUDA_SUCCESS mostly. Counts calls. Thread: any.
[[nodiscard]] CUresult injected_fault(const char* function) noexcept;

}  // namespace simulated_gpu
