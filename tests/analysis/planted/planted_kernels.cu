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
__global__ void residual_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void first_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void second_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void spmv_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void axpy_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}
__global__ void dot_kernel(std::uint64_t duration_ns) {
  last(duration_ns);
}

namespace penstock::planted {

cudaError_t launch(Kernel kernel, std::uint64_t duration_ns, cudaStream_t stream) {
  // in the order of Kernel
  static void (*const kernels[kernel_count])(std::uint64_t){
      pack_kernel,  unpack_kernel, interior_kernel, update_kernel, residual_kernel,
      first_kernel, second_kernel, spmv_kernel,     axpy_kernel,   dot_kernel,
  };
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernels[static_cast<int>(kernel)], duration_ns);
}

}  // namespace penstock::planted
