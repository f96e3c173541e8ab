// Keeps exceptions inside: functions that return a Status do so also when memory runs out.
#pragma once

#include <new>

#include "transports/host/status.hpp"

namespace penstock::transports {

/// Calls `body()`, which returns a Status and may throw std::bad_alloc.
template <class Body>
[[nodiscard]] Status guarded(Body body) noexcept {
  try {
    return body();
  } catch (const std::bad_alloc&) {
    return {Code::out_of_memory, "operator new"};
  }
}

}  // namespace penstock::transports
