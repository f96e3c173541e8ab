// A payload on its way into the receiver's memory, whoever moves it. Knows neither transports nor offers.
#pragma once

#include "transports/host/status.hpp"

namespace penstock::transports {

/// A receive in progress. Owns its stream time, cache counts and events; destroying one that is not finished
/// waits until the GPU no longer touches the destination.
class Pull {
 public:
  virtual ~Pull() = default;
  /// One step. Never blocks. `finished` becomes true once every byte is in the destination and visible to
  /// work that the application issues afterwards. An error after the start is final. Thread: one at a time.
  [[nodiscard]] virtual Status advance(bool& finished) noexcept = 0;
};

}  // namespace penstock::transports
