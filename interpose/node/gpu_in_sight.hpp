// Decides whether buffers have to be inspected at all: a job on this node that uses no GPU pays some loads
// for each call.
#pragma once

#include "interpose/node/node_directory.hpp"
#include "transports/machine.hpp"

namespace penstock::interpose {

/// Returns whether any rank could have a device buffer. If not, no buffer needs to be inspected. Cost: some
/// loads.
[[nodiscard]] inline bool is_gpu_in_sight() noexcept {
  return NodeDirectory::gpu_seen() || transports::cuda_in_use();
}

}  // namespace penstock::interpose
