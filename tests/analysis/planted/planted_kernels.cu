#include "tests/analysis/planted/planted_kernels.hpp"

#if PENSTOCK_SIMULATED_GPU
#include <chrono>
#include <thread>
#endif

namespace {

/// A simulated GPU sleeps: it shares the processor with the ranks.
__device__ void last(std::uint64_t duration_ns) {
#if PENSTOCK_SIMULATED_GPU
  std::this_thread::sleep_for(std::chrono::nanoseconds(duration_ns));
#else
  std::uint64_t begin_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin_ns));
  std::uint64_t now_ns = begin_ns;
  while (now_ns - begin_ns < duration_ns) {
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  }
#endif
}

}  // namespace

__global__ void pack_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void unpack_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void interior_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void update_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}

namespace penstock::planted {

cudaError_t launch(Kernel kernel, std::uint64_t duration_ns, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  switch (kernel) {
    case Kernel::pack:
      return cudaLaunchKernelEx(&config, pack_kernel, duration_ns);
    case Kernel::unpack:
      return cudaLaunchKernelEx(&config, unpack_kernel, duration_ns);
    case Kernel::interior:
      return cudaLaunchKernelEx(&config, interior_kernel, duration_ns);
    case Kernel::update:
      break;
  }
  return cudaLaunchKernelEx(&config, update_kernel, duration_ns);
}

}  // namespace penstock::planted
