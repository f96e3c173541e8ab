// The transports there are, one instance each, for the chooser's table, and what they have in common. Knows
// nothing of how they work.
#pragma once

#include <new>

#include "transports/transport.hpp"

namespace penstock::transports {

[[nodiscard]] Transport& local_transport() noexcept;    ///< both sides in this process
[[nodiscard]] Transport& striped_transport() noexcept;  ///< CUDA IPC and shared host memory at once
[[nodiscard]] Transport& peer_transport() noexcept;     ///< CUDA IPC
[[nodiscard]] Transport& relayed_transport() noexcept;  ///< CUDA IPC with a ring on the sender's device
[[nodiscard]] Transport&
pushed_transport() noexcept;  ///< CUDA IPC, by the sender's copy engine from pinned memory
[[nodiscard]] Transport& staged_transport() noexcept;  ///< shared host memory

/// The verdict of `judge(offer, destination)`, which may throw std::bad_alloc: then the transport is refused
/// for `without_memory`.
template <class Judge>
[[nodiscard]] Verdict guarded_verdict(Judge judge, const Offer& offer, const Place& destination,
                                      const char* without_memory = "out of memory") noexcept {
  try {
    return judge(offer, destination);
  } catch (const std::bad_alloc&) {
    return {false, without_memory};
  }
}

}  // namespace penstock::transports
