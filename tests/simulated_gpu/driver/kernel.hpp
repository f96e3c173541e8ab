// Runs a kernel's thread blocks, one after another, on the calling thread; where they wait for each other,
// all but the last on threads of their own. A block is a plain loop over its threads until one of them meets
// a barrier; from then on each thread that waits keeps a fiber. Knows no stream.
#pragma once

#include "simulated_gpu.h"

namespace simulated_gpu {

/// `arguments` as kernels see them. Thread: any; barriers find the block through the thread.
void run_kernel(const SimulatedGpuLaunch& launch, const void* arguments);

}  // namespace simulated_gpu
