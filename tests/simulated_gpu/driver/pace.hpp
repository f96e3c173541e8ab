// A GPU of known speed: work lasts at least as long as SIMULATED_GPU_THREAD_NS and
// SIMULATED_GPU_COPY_MB_PER_S say. It lasts by sleeping, so that many GPUs last no longer on few cores than
// on many.
#pragma once

#include <cstdint>

#include "simulated_gpu.h"

namespace simulated_gpu {

/// Of a kernel by its threads, of a copy by its bytes; 0: as long as it takes.
[[nodiscard]] std::uint64_t shortest_ns(const SimulatedGpuActivity& activity) noexcept;

/// Returns when `monotonic_ns()` shows that.
void sleep_until_ns(std::uint64_t time_ns) noexcept;

}  // namespace simulated_gpu
