// Kernels that programs load by name: a library is a SimulatedGpuImage, a table of host functions. Belongs to
// no context, as NVIDIA's; its kernels are put into each when they are first needed there. Knows no launches.
#pragma once

#include <cuda.h>

#include "context.hpp"
#include "simulated_gpu.h"

namespace simulated_gpu {

/// A kernel of a library that is loaded; CUDA_ERROR_INVALID_HANDLE for others. The first time in a context it
/// waits for all work there, and holds up others meanwhile, as NVIDIA's driver does. Thread: any.
[[nodiscard]] const SimulatedGpuKernel& kernel_in(Context& context, CUfunction function);

}  // namespace simulated_gpu
