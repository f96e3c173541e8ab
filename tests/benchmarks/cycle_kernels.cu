#include "tests/benchmarks/cycle_kernels.hpp"

__global__ void smooth_kernel(double* cells, int count) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < count) cells[at] = -cells[at];
}

__global__ void pack_kernel(double* face, const double* cells, int edge) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < edge * edge) face[at] = cells[at * edge + edge - 1];
}

__global__ void unpack_kernel(double* edges, const double* ghost, int edge) {
  const int at = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
  if (at < edge * edge) edges[2 * at] = ghost[at];
}

namespace penstock::benchmarks {
namespace {

cudaLaunchConfig_t one_thread_each(int count, cudaStream_t stream) {
  constexpr int block_threads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((count + block_threads - 1) / block_threads));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  return config;
}

}  // namespace

cudaError_t smooth(const Level& level, cudaStream_t stream) {
  const int count = level.edge * level.edge * level.edge;
  const cudaLaunchConfig_t config = one_thread_each(count, stream);
  return cudaLaunchKernelEx(&config, smooth_kernel, level.cells, count);
}

cudaError_t pack(const Level& level, cudaStream_t stream) {
  const cudaLaunchConfig_t config = one_thread_each(level.edge * level.edge, stream);
  return cudaLaunchKernelEx(&config, pack_kernel, level.face, static_cast<const double*>(level.cells),
                            level.edge);
}

cudaError_t unpack(const Level& level, cudaStream_t stream) {
  const cudaLaunchConfig_t config = one_thread_each(level.edge * level.edge, stream);
  return cudaLaunchKernelEx(&config, unpack_kernel, level.edges, static_cast<const double*>(level.ghost),
                            level.edge);
}

}  // namespace penstock::benchmarks
