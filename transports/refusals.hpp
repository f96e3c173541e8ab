// What the driver has refused that makes payloads slower and stops none, so that users can be told why. Knows
// neither what they are told nor how.
#pragma once

#include "transports/host/status.hpp"

namespace penstock::transports {

struct Refusal {
  const char* consequence;  ///< for users; a literal
  Status status;            ///< ok: nothing was refused
};

/// One that nobody has taken yet. Thread: any. Cost: two loads, mostly.
[[nodiscard]] Refusal take_refusal() noexcept;

}  // namespace penstock::transports
