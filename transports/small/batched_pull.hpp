// Batches small pulls. A copy call costs microseconds however few bytes it moves, so pulls that arrive while
// another small pull is in flight are collected and launched as one batch. Knows neither offers nor how the
// sources became addressable.
#pragma once

#include <memory>

#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// Returns whether the copy is small enough for a batch.
[[nodiscard]] bool fits_a_batch(const CopySource& source, const BufferView& destination) noexcept;

/// Adds a copy, which kernels can make and which need not wait for other work, to the batch of its route
/// (into one context, or between it and host memory); null if no other copy of the route is in flight or
/// collected. A batch is launched when it has stopped growing and the route is idle, when it holds enough, or
/// after 20 µs. Thread: any; the pull one at a time. Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> join_batch(const CopySource& source, const BufferView& destination,
                                               const cuda::ContextRef& context);

/// Counts a copy that was started alone, until it ends: others join a batch meanwhile.
[[nodiscard]] std::unique_ptr<Pull> count_in_flight(const CopySource& source, const BufferView& destination,
                                                    const cuda::ContextRef& context,
                                                    std::unique_ptr<Pull> alone);

/// Launches the small pulls that are collected for a batch, as the caller will not step them for a while.
/// Thread: any. Cost, if there are none: some ns.
void launch_collected() noexcept;

}  // namespace penstock::transports
