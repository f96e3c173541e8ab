// The loops by which the blocks of a layout can be told, found once for all copies of the layout: finding
// them takes a look at each block, and a message asks several times. Knows nothing of how they are found.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "transports/memory/strided_loops.hpp"

namespace penstock::transports {

/// Thread: any, but for forget().
class KeptLoops {
 public:
  /// What `find()` returns, or returned to the first who asked. Whoever asks while that is being noted finds
  /// by itself.
  template <typename Find>
  [[nodiscard]] std::optional<StridedLoops> get(Find find) noexcept {
    State state = state_.load(std::memory_order_acquire);
    if (state == State::none) return std::nullopt;
    if (state == State::found) return loops_;
    const std::optional<StridedLoops> found = find();
    if (state == State::unknown && state_.compare_exchange_strong(state, State::being_noted)) {
      if (found) loops_ = *found;
      state_.store(found ? State::found : State::none, std::memory_order_release);
    }
    return found;
  }
  /// The blocks change, which nobody else has.
  void forget() noexcept { state_.store(State::unknown, std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { unknown, being_noted, found, none };

  std::atomic<State> state_{State::unknown};
  StridedLoops loops_;
};

}  // namespace penstock::transports
