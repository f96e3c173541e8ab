// Attempts at what is had soon by whoever asks often enough, before the thread sleeps for it.
#pragma once

#include "transports/host/processor_pause.hpp"

namespace penstock::transports {

/// Calls `attempt()` up to so many times, with pauses of 10 to 40 ns; returns whether one was successful.
template <typename Attempt>
[[nodiscard]] bool try_for_a_while(unsigned attempts, Attempt attempt) {
  for (unsigned i = 0; i < attempts; ++i) {
    if (attempt()) return true;
    processor_pause();
  }
  return false;
}

}  // namespace penstock::transports
