#include "examples/gmh/library/combine.hpp"

#include <cuda_runtime.h>

namespace gmh {

// Profilers show these names: they are visible symbols, and in no unnamed namespace.
#pragma GCC visibility push(default)
namespace kernels {

template <typename Element>
__global__ void combine(const Element* parts, int ranks, std::int64_t count, gmh_op_t op, Element* result) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Element sum = parts[i];
  for (int rank = 1; rank < ranks; ++rank) {
    const Element next = parts[rank * count + i];
    if (op == GMH_SUM) {
      sum = static_cast<Element>(sum + next);
    } else if (op == GMH_MIN) {
      sum = next < sum ? next : sum;
    } else {
      sum = sum < next ? next : sum;
    }
  }
  result[i] = sum;
}

}  // namespace kernels
#pragma GCC visibility pop

namespace {

template <typename Element>
cudaError_t launch_combine(cudaStream_t stream, const void* parts, int ranks, std::int64_t count, gmh_op_t op,
                           void* result) {
  constexpr unsigned block_threads = 256;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(static_cast<unsigned>((count + block_threads - 1) / block_threads));
  config.blockDim = dim3(block_threads);
  config.stream = stream;
  return cudaLaunchKernelEx(&config, kernels::combine<Element>, static_cast<const Element*>(parts), ranks,
                            count, op, static_cast<Element*>(result));
}

}  // namespace

cudaError_t combine(cudaStream_t stream, const void* parts, int ranks, std::int64_t count,
                    gmh_datatype_t type, gmh_op_t op, void* result) {
  switch (type) {
    case GMH_BYTE:
      return launch_combine<unsigned char>(stream, parts, ranks, count, op, result);
    case GMH_INT:
      return launch_combine<int>(stream, parts, ranks, count, op, result);
    case GMH_INT64:
      return launch_combine<std::int64_t>(stream, parts, ranks, count, op, result);
    case GMH_FLOAT:
      return launch_combine<float>(stream, parts, ranks, count, op, result);
    case GMH_DOUBLE:
      return launch_combine<double>(stream, parts, ranks, count, op, result);
  }
  return cudaErrorInvalidValue;
}

}  // namespace gmh
