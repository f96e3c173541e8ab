// A payload in transit into the receiver's memory, whatever moves it. Knows neither transports nor offers.
#pragma once

#include <atomic>
#include <cstdint>

#include "transports/host/status.hpp"

namespace penstock::transports {

/// A receive in progress. Owns its stream time, cache counts and events; destroying an unfinished one waits
/// until the GPU no longer touches the destination.
class Pull {
 public:
  virtual ~Pull() = default;
  /// Makes one step and never blocks. `finished` becomes true once every byte is in the destination and
  /// visible to work that the application issues afterwards. An error after the start is final. Thread: one
  /// at a time.
  [[nodiscard]] virtual Status advance(bool& finished) noexcept = 0;
  /// Has the GPU store 1 (release) to `flag` once every byte is in the destination, without further steps.
  /// `flag` must stay mapped until then. False: it cannot, and nothing will be stored.
  [[nodiscard]] virtual bool signal_at_end(std::atomic<std::uint32_t>* flag) noexcept {
    static_cast<void>(flag);
    return false;
  }
};

}  // namespace penstock::transports
