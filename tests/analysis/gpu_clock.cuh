// The time on a GPU, for kernels that take as long as a test wants.
#pragma once

#include <cstdint>

#if PENSTOCK_SIMULATED_GPU
#include <chrono>
#endif

namespace penstock::test_support {

inline __device__ std::uint64_t gpu_now_ns() {
#if PENSTOCK_SIMULATED_GPU
  return static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count());
#else
  std::uint64_t now_ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now_ns));
  return now_ns;
#endif
}

}  // namespace penstock::test_support
