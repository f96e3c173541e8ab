// Makes Penstock's own copies come after the work that the application queued before (readiness.hpp says
// which).
#pragma once

#include "transports/cuda/context.hpp"

namespace penstock::transports::cuda {

/// Work queued on `own` from now on runs after the application's work in the same context so far. The context
/// must be current. While the application captures a graph in a stream that the legacy stream would wait for,
/// nothing is waited for: captured work is not running, and asking would spoil the capture.
[[nodiscard]] Status order_after_application(const ContextRef& context, CUstream own) noexcept;

}  // namespace penstock::transports::cuda
