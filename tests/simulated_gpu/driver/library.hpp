// Kernels that programs load by name: a library is a SimulatedGpuImage, a table of host functions. Belongs to
// no context, as NVIDIA's. Knows no launches.
#pragma once

#include <cuda.h>

#include "simulated_gpu.h"

namespace simulated_gpu {

/// A kernel of a library that is loaded; CUDA_ERROR_INVALID_HANDLE for others. Thread: any.
[[nodiscard]] const SimulatedGpuKernel& kernel_of(CUfunction function);

}  // namespace simulated_gpu
