// The runtime's calls to steer a profiler.
#include <cudaProfiler.h>
#include <cuda_profiler_api.h>

#include "runtime_call.hpp"

using namespace simulated_gpu::runtime;

cudaError_t cudaProfilerStart() {
  return runtime_call(__func__, [] { return cuProfilerStart(); });
}

cudaError_t cudaProfilerStop() {
  return runtime_call(__func__, [] { return cuProfilerStop(); });
}
