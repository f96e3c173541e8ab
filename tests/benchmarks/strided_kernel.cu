#include "tests/benchmarks/strided_kernel.hpp"

__global__ void copy_rows_kernel(double* to, const double* from, penstock::benchmarks::WordRows rows) {
  const std::size_t threads = std::size_t{gridDim.x} * blockDim.x;
  for (std::size_t word = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; word < rows.rows * rows.words;
       word += threads) {
    const std::size_t at = word / rows.words * rows.stride + word % rows.words;
    to[at] = from[at];
  }
}

namespace penstock::benchmarks {

cudaError_t copy_rows(double* to, const double* from, const WordRows& rows, cudaStream_t stream) {
  constexpr unsigned block_threads = 256;
  constexpr std::size_t most_blocks = 1056;
  const std::size_t blocks = (rows.rows * rows.words + block_threads - 1) / block_threads;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>(blocks < most_blocks ? blocks : most_blocks));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, copy_rows_kernel, to, from, rows);
}

}  // namespace penstock::benchmarks
