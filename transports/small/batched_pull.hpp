// Batches small pulls. A copy call costs microseconds however few bytes it moves, so pulls that arrive while
// another small pull is in flight are collected and launched as one batch. Knows neither offers nor how the
// sources became addressable.
#pragma once

#include <memory>

#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// Returns whether the copy can be part of a batch: it is small, between devices or between a device and
/// pinned memory, and need not wait for other work.
[[nodiscard]] bool suits_a_batch(const CopySource& source, const BufferView& destination,
                                 const cuda::ContextRef& context);

/// Starts a pull that suits_a_batch(). The first of a route is copied alone, at once. While it is in flight,
/// others are collected into a batch, which is launched when it has stopped growing and the route is idle,
/// when it holds enough, or after 20 µs. Thread: any; the pull one at a time. Errors: as CopyPull's;
/// `declined` if the driver cannot run our kernels.
[[nodiscard]] Status start_batched(const CopySource& source, const BufferView& destination,
                                   const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Launches the small pulls that are collected for a batch, as the caller will not step them for a while.
/// Thread: any. Cost, if there are none: some ns.
void launch_collected() noexcept;

}  // namespace penstock::transports
