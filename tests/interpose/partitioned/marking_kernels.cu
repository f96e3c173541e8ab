#include "tests/interpose/partitioned/marking_kernels.hpp"

namespace penstock::test_support {
namespace {

constexpr unsigned block_threads = 128;

cudaLaunchConfig_t one_block(unsigned threads) {
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(1);
  config.blockDim = dim3(threads);
  return config;
}

}  // namespace
}  // namespace penstock::test_support

__global__ void write_and_mark_kernel(int* buffer, int ints, penstock_request marks, int first,
                                      int held_behind, const volatile unsigned* go_on) {
  for (int written = 0; written < marks.partitions; ++written) {
    const int partition = marks.partitions - 1 - written;
    if (written == held_behind && go_on != nullptr) {
      // one thread alone: on the simulated GPU the others run once it meets a barrier
      while (threadIdx.x == 0 && *go_on == 0) {
      }
      __syncthreads();
    }
    for (int i = static_cast<int>(threadIdx.x); i < ints; i += static_cast<int>(blockDim.x))
      buffer[partition * ints + i] = first + partition * ints + i;
    __syncthreads();
    if (threadIdx.x == 0) penstock_pready(marks, partition);
  }
}

__global__ void mark_range_kernel(penstock_request marks, int first, int last) {
  for (int partition = first; partition <= last; ++partition) penstock_pready(marks, partition);
}

namespace penstock::test_support {

cudaError_t write_and_mark(int* buffer, int ints, penstock_request marks, int first, int held_behind,
                           const unsigned* go_on) {
  const cudaLaunchConfig_t config = one_block(block_threads);
  return cudaLaunchKernelEx(&config, write_and_mark_kernel, buffer, ints, marks, first, held_behind,
                            static_cast<const volatile unsigned*>(go_on));
}

cudaError_t mark_range(penstock_request marks, int first, int last) {
  const cudaLaunchConfig_t config = one_block(1);
  return cudaLaunchKernelEx(&config, mark_range_kernel, marks, first, last);
}

}  // namespace penstock::test_support
