// A kernel that runs for a known time and marks its begin and its end for the host.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace penstock::known_times {

/// What a kernel sets to 1; in memory that both the host and the GPU see.
struct KernelMarks {
  volatile std::uint32_t has_begun;
  volatile std::uint32_t has_ended;
};

/// Queues a kernel of one thread that spins for `duration_ns`.
[[nodiscard]] cudaError_t spin(std::uint64_t duration_ns, KernelMarks* marks, cudaStream_t stream);

}  // namespace penstock::known_times
