// The loops that describe the blocks of a layout, found once for all copies of the layout: finding them takes
// a look at each block, and a message needs them several times. Does not know how they are found.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "transports/memory/strided_loops.hpp"

namespace penstock::transports {

/// Thread: any, but for forget().
class KeptLoops {
 public:
  /// Returns the result of `find()`, or of the first caller's. A caller that arrives while that is being
  /// noted calls `find()` itself.
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
  /// To be called when the blocks change; no other copy may share them then.
  void forget() noexcept { state_.store(State::unknown, std::memory_order_relaxed); }

 private:
  enum class State : std::uint8_t { unknown, being_noted, found, none };

  std::atomic<State> state_{State::unknown};
  StridedLoops loops_;
};

}  // namespace penstock::transports
