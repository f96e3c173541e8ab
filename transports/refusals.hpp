// Reports refusals of the driver that make payloads slower but stop none, so that users can be notified. Does
// not know how users are notified.
#pragma once

#include "transports/host/status.hpp"

namespace penstock::transports {

struct Refusal {
  const char* consequence;  ///< for users; a literal
  Status status;            ///< ok: nothing was refused
};

/// Returns a refusal that no caller has taken yet. Thread: any. Cost: two loads, mostly.
[[nodiscard]] Refusal take_refusal() noexcept;

}  // namespace penstock::transports
