// The compute that overlap_benchmark hides messages behind: a kernel that keeps every multiprocessor of the
// GPU busy for a given time and touches no memory.
#pragma once

#include <cuda_runtime.h>

namespace penstock::benchmarks {

/// Fills the current device with threads that spin for so many of its clock's ticks. Queues it and returns.
[[nodiscard]] cudaError_t spin(long long ticks, cudaStream_t stream);

}  // namespace penstock::benchmarks
