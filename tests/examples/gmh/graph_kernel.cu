#include "tests/examples/gmh/graph_kernel.hpp"

#include <cuda_runtime.h>

namespace gmh_tests {
namespace kernels {

/// Computes mixed() on the GPU.
__global__ void mix(std::uint32_t* target, int count, const std::uint32_t* source, int source_count,
                    std::uint32_t constant) {
  const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (i < count) target[i] = target[i] * 2654435761u + (source[i % source_count] ^ constant);
}

}  // namespace kernels

cudaError_t queue_mix(cudaStream_t stream, std::uint32_t* target, int count, const std::uint32_t* source,
                      int source_count, std::uint32_t constant) {
  constexpr int block_threads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((count + block_threads - 1) / block_threads));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernels::mix, target, count, source, source_count, constant);
}

}  // namespace gmh_tests
