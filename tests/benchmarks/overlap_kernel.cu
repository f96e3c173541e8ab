#include "tests/benchmarks/overlap_kernel.hpp"

#if PENSTOCK_SIMULATED_GPU
#include <chrono>
static long long clock64() {
  return std::chrono::steady_clock::now().time_since_epoch().count();
}
#endif

/// One thread a block spins; the others only take the room that a real kernel's would.
__global__ void spin_kernel(long long ticks) {
  if (threadIdx.x != 0) return;
  const long long begin = clock64();
  while (clock64() - begin < ticks) {
  }
}

namespace penstock::benchmarks {

cudaError_t spin(long long ticks, cudaStream_t stream) {
  constexpr unsigned block_threads = 1024;
  int device = 0;
  int multiprocessors = 0;
  int threads_each = 0;
  cudaError_t error = cudaGetDevice(&device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
  if (error == cudaSuccess)
    error = cudaDeviceGetAttribute(&threads_each, cudaDevAttrMaxThreadsPerMultiProcessor, device);
  if (error != cudaSuccess) return error;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(multiprocessors * threads_each) / block_threads);
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, spin_kernel, ticks);
}

}  // namespace penstock::benchmarks
