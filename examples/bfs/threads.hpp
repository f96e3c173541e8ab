// A kernel's threads, counted over the grid. For .cu files only.
#pragma once

#include <cstdint>

#include "examples/support/gpu.hpp"

namespace bfs {

__device__ inline std::int64_t thread_index() {
  return std::int64_t{blockIdx.x} * blockDim.x + threadIdx.x;
}
__device__ inline std::int64_t thread_count() {
  return std::int64_t{gridDim.x} * blockDim.x;
}

}  // namespace bfs
