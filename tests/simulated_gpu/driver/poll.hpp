// Waiting for a word of memory that someone else writes: stream wait-value operations and events of other
// processes. Not for threads of this process that could notify.
#pragma once

#include <chrono>
#include <thread>

namespace simulated_gpu {

/// Polls: first giving way to other threads, then with short sleeps, so that a long wait costs no core.
template <typename Condition>
void poll_until(Condition&& condition) {
  constexpr int polite_rounds = 200;
  for (int round = 0; !condition(); ++round) {
    if (round < polite_rounds) {
      std::this_thread::yield();
    } else {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

}  // namespace simulated_gpu
