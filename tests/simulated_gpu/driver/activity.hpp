// Tells an observer (the simulated CUPTI) what the GPU did and when. Costs one atomic load when nobody
// observes. Knows no record format.
#pragma once

#include <functional>

#include "memory.hpp"
#include "simulated_gpu.h"
#include "stream.hpp"

namespace simulated_gpu {

/// Queues `work` on the stream; if it is observed, `activity` (its kind-specific fields set) gets times,
/// correlation and place, and is delivered when the work is done.
WorkPoint submit_observed(Stream& stream, SimulatedGpuActivity activity, std::function<void()> work);

/// Does so before it returns.
void perform_observed(Stream& stream, SimulatedGpuActivity activity, std::function<void()> work);

/// A thread's wait, from construction to destruction.
class WaitActivity {
 public:
  WaitActivity(SimulatedGpuWait wait, Context& context, unsigned stream = 0, unsigned event = 0);
  ~WaitActivity();
  WaitActivity(const WaitActivity&) = delete;
  WaitActivity& operator=(const WaitActivity&) = delete;

 private:
  const SimulatedGpuObserver* observer_;
  SimulatedGpuActivity activity_{};
};

/// CLOCK_MONOTONIC.
[[nodiscard]] std::uint64_t monotonic_ns() noexcept;

}  // namespace simulated_gpu
