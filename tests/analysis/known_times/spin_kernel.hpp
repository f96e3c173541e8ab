// A kernel that runs for a known time and says when it did, by the GPU's own clock.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

namespace penstock::known_times {

/// What a kernel writes; in memory that both the host and the GPU see.
struct KernelTimes {
  volatile std::uint64_t begin_ns;
  volatile std::uint64_t end_ns;
};

/// Queues a kernel of one thread that spins for `duration_ns`.
[[nodiscard]] cudaError_t spin(std::uint64_t duration_ns, KernelTimes* times, cudaStream_t stream);

}  // namespace penstock::known_times
