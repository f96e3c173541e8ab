// Calls what the headers define by templates, as C++17.
#include <cuda.h>
#include <cuda_runtime.h>
#include <cupti.h>
#include <nvtx3/nvToolsExt.h>

#include <cstddef>

__global__ void add(int* sums, double weight) {
  __shared__ int of_block;
  if (threadIdx.x == 0) of_block = static_cast<int>(weight);
  __syncthreads();
  atomicAdd(sums, of_block);
  atomicMax(sums, 1);
  atomicCAS(sums, 1, 2);
  sums[0] += __shfl_down_sync(0xFFFFFFFFu, of_block, 1u);
}

int launch_of_cxx17() {
  int* sums = nullptr;
  if (cudaMalloc(&sums, sizeof(int)) != cudaSuccess) return 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(32);
  const int failed = cudaLaunchKernelEx(&config, add, sums, 1) != cudaSuccess;
  return cudaFree(sums) != cudaSuccess || failed != 0;
}
