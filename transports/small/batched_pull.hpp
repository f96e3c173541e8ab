// Small pulls that go together. A copy call costs microseconds however few bytes it moves, so what arrives
// while another small pull is on its way is collected and launched as one batch. Knows neither offers nor how
// the sources came to be addressable.
#pragma once

#include <memory>

#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// Can the copy go in a batch: small, between devices or between one and pinned memory, and nothing to be
/// waited for before it?
[[nodiscard]] bool suits_a_batch(const CopySource& source, const Place& destination,
                                 const cuda::ContextRef& context);

/// Starts a pull that suits_a_batch(). The first is a copy of its own, for the shortest way, or, of layouts
/// in pieces, a batch of its own; the next ones, as long as it is in flight, wait for each other until one of
/// them is stepped for the first time. Thread:
/// any; the pull one at a time. Errors: as CopyPull's; `declined` where the driver cannot run our kernels.
[[nodiscard]] Status start_batched(const CopySource& source, const Place& destination,
                                   const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
