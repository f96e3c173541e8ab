#include "tests/analysis/nccl/nccl_kernels.hpp"

#include "tests/analysis/gpu_clock.cuh"

namespace {

using penstock::test_support::gpu_now_ns;

__device__ void run_until_told(penstock::nccl_steps::KernelMarks* marks, std::uint32_t number) {
  constexpr std::uint64_t longest_ns = 20'000'000'000;
  const std::uint64_t begin_ns = gpu_now_ns();
  marks->begun = number;
  while (marks->may_end < number && gpu_now_ns() - begin_ns < longest_ns) {
  }
}

}  // namespace

__global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(penstock::nccl_steps::KernelMarks* marks,
                                                        std::uint32_t number) {
  run_until_told(marks, number);
}

__global__ void ncclDevKernel_SendRecv(penstock::nccl_steps::KernelMarks* marks, std::uint32_t number) {
  run_until_told(marks, number);
}

namespace penstock::nccl_steps {

cudaError_t launch(NcclKernel which, KernelMarks* marks, std::uint32_t number, cudaStream_t stream) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(1);
  config.stream = stream;
  return which == NcclKernel::all_reduce
             ? cudaLaunchKernelEx(&config, ncclDevKernel_AllReduce_Sum_f32_RING_LL, marks, number)
             : cudaLaunchKernelEx(&config, ncclDevKernel_SendRecv, marks, number);
}

}  // namespace penstock::nccl_steps
