#include "tests/analysis/known_times/spin_kernel.hpp"

#include "tests/analysis/gpu_clock.cuh"

using penstock::test_support::gpu_now_ns;

__global__ void known_spin_kernel(std::uint64_t duration_ns, penstock::known_times::KernelMarks* marks) {
  const std::uint64_t begin_ns = gpu_now_ns();
  marks->has_begun = 1;
  while (gpu_now_ns() - begin_ns < duration_ns) {
  }
  marks->has_ended = 1;
}

namespace penstock::known_times {

cudaError_t spin(std::uint64_t duration_ns, KernelMarks* marks, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, known_spin_kernel, duration_ns, marks);
}

}  // namespace penstock::known_times
