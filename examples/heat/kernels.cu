// One step of the heat equation on the cells of a rank. Called from Fortran, hence C's linkage and its order
// of indices: x runs fastest.
#include <cuda_runtime.h>

#include <cstdint>

namespace kernels {

/// `from`, `to`: nx × ny cells with a ghost cell on each side.
__global__ void diffuse(const double* from, double* to, std::int64_t nx, std::int64_t ny, double rate) {
  const std::int64_t index = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (index >= nx * ny) return;
  const std::int64_t width = nx + 2;
  const std::int64_t cell = (index / nx + 1) * width + index % nx + 1;
  to[cell] = from[cell] + rate * (from[cell - 1] + from[cell + 1] + from[cell - width] + from[cell + width] -
                                  4 * from[cell]);
}

}  // namespace kernels

/// Queued on the legacy default stream. Returns a cudaError_t.
extern "C" int heat_diffuse(const double* from, double* to, std::int64_t nx, std::int64_t ny, double rate) {
  constexpr std::int64_t threads = 256;
  cudaLaunchConfig_t config = {};
  config.gridDim = dim3(static_cast<unsigned>((nx * ny + threads - 1) / threads));
  config.blockDim = dim3(threads);
  return cudaLaunchKernelEx(&config, kernels::diffuse, from, to, nx, ny, rate);
}
