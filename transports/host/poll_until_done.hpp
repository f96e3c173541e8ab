// Waits for the GPU on the calling thread. Does not know what it waits for.
#pragma once

#include <thread>

#include "transports/host/status.hpp"

namespace penstock::transports {

/// Calls `query(bool& done)` until it sets `done` or returns an error, which is returned. Spins a little
/// (some tens to hundreds of microseconds), then yields the core.
template <typename Query>
[[nodiscard]] Status poll_until_done(Query query) noexcept {
  constexpr int spins = 2000;
  bool done = false;
  for (int polls = 0;; ++polls) {
    Status state = query(done);
    if (done || !state.ok()) return state;
    if (polls > spins) std::this_thread::yield();
  }
}

}  // namespace penstock::transports
