// What the application queued before, as Penstock's own work comes after it: asked about, marked by an event,
// or waited for. readiness.hpp says what counts.
#pragma once

#include "transports/cuda/context.hpp"

namespace penstock::transports::cuda {

/// False: the application synchronises by itself.
[[nodiscard]] bool application_is_waited_for() noexcept;
/// An event can stand for all that must be waited for: not so in order `device`.
[[nodiscard]] bool application_may_be_marked() noexcept;

/// Is nothing left of the work that the application had queued at `since_ns` (0: now) and that would have to
/// be waited for in the context's legacy stream? In order `device` it waits here and now. Errors of the
/// application's own work are left to the application: the copy that follows will meet them too.
[[nodiscard]] bool application_is_idle(Context& context, std::uint64_t since_ns) noexcept;

/// Blocks until what the application has queued is done.
void wait_for_application(Context& context) noexcept;

/// Takes an event, and records it behind what the application has queued. The context must be current.
[[nodiscard]] Status mark_application(const ContextRef& context, Event& event) noexcept;

/// Work queued on `own` from now on runs after what the event stands for. Its context must be current.
[[nodiscard]] Status order_after(const Event& event, CUstream own) noexcept;

/// Work queued on `own` from now on runs after the work that the application had queued in the same context
/// at `since_ns` (handed_over_ns of a place; 0: now). The context must be current. While the application
/// captures a graph in a stream that the legacy stream would wait for, only the legacy stream's own work is
/// waited for: captured work is not running, and the driver lets nobody ask for more without spoiling the
/// capture.
[[nodiscard]] Status order_after_application(const ContextRef& context, CUstream own,
                                             std::uint64_t since_ns = 0) noexcept;

}  // namespace penstock::transports::cuda
