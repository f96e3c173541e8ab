// Makes Penstock's own copies come after the work that the application queued before (readiness.hpp says
// which).
#pragma once

#include "transports/cuda/context.hpp"

namespace penstock::transports::cuda {

/// Work queued on `own` from now on runs after the work that the application had queued in the same context
/// at `since_ns` (handed_over_ns of a place; 0: now). The context must be current. While the application
/// captures a graph in a stream that the legacy stream would wait for, only the legacy stream's own work is
/// waited for: captured work is not running, and the driver lets nobody ask for more without spoiling the
/// capture.
[[nodiscard]] Status order_after_application(const ContextRef& context, CUstream own,
                                             std::uint64_t since_ns = 0) noexcept;

}  // namespace penstock::transports::cuda
