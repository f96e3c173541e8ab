// A rank's offer to carry out its part of a collective by a kernel. This header knows no collective.
#pragma once

#include <cstddef>

#include "interpose/node/policy.hpp"
#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/one_shot/one_shot_collective.hpp"
#include "transports/small/resident_orders.hpp"

namespace penstock::interpose {

/// That work, from `own` and in that context; it does not wait for what the application has queued. Refers to
/// the user's buffers. A value.
struct OfferedKernel {
  transports::OneShotWork work;
  transports::Buffer own;
  transports::cuda::ContextRef context;
};

/// Returns the largest part of that collective on any rank, as all ranks know it. If they know only their
/// own, it is the largest that may be offered.
[[nodiscard]] inline std::size_t bytes_on_all_ranks(const transports::OneShotWork& work) noexcept {
  return work.parts.is_checked ? policy::largest_one_shot_block : transports::largest_of(work.parts);
}

}  // namespace penstock::interpose
