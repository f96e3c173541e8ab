#include "pace.hpp"

#include <cerrno>
#include <cstdlib>
#include <ctime>

namespace simulated_gpu {
namespace {

/// 0 where it is not set or no number.
std::uint64_t setting(const char* name) noexcept {
  const char* const text = std::getenv(name);
  return text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
}

}  // namespace

std::uint64_t shortest_ns(const SimulatedGpuActivity& activity) noexcept {
  static const std::uint64_t thread_ns = setting("SIMULATED_GPU_THREAD_NS");
  static const std::uint64_t copy_mb_per_s = setting("SIMULATED_GPU_COPY_MB_PER_S");
  switch (activity.kind) {
    case SIMULATED_GPU_KERNEL: {
      std::uint64_t threads = 1;
      for (int i = 0; i < 3; ++i) threads *= std::uint64_t{activity.grid[i]} * activity.block[i];
      return threads * thread_ns;
    }
    case SIMULATED_GPU_COPY:
    case SIMULATED_GPU_PEER_COPY:
      return copy_mb_per_s == 0 ? 0 : activity.bytes * 1000 / copy_mb_per_s;
    case SIMULATED_GPU_SET:
    case SIMULATED_GPU_WAIT:
      break;
  }
  return 0;
}

void sleep_until_ns(std::uint64_t time_ns) noexcept {
  timespec until{};
  until.tv_sec = static_cast<time_t>(time_ns / 1'000'000'000u);
  until.tv_nsec = static_cast<long>(time_ns % 1'000'000'000u);
  while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr) == EINTR) {
  }
}

}  // namespace simulated_gpu
