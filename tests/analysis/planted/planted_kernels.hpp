// Kernels that last for a known time, each with a name of its own.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace penstock::planted {

enum class Kernel : std::uint8_t { pack, unpack, interior, update, residual, first, second, spmv, axpy, dot };
constexpr int kernel_count = 10;

/// Queues a kernel of one thread.
[[nodiscard]] cudaError_t launch(Kernel kernel, std::uint64_t duration_ns, cudaStream_t stream);

}  // namespace penstock::planted
