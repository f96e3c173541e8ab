// Orders Penstock's own work behind what the application queued before: by a query, by an event, or by
// waiting. readiness.hpp defines which work counts.
#pragma once

#include "transports/cuda/context.hpp"

namespace penstock::transports::cuda {

/// False: the application synchronises by itself.
[[nodiscard]] bool application_is_waited_for() noexcept;
/// True if an event can cover all that must be waited for; false in order `device`.
[[nodiscard]] bool application_may_be_marked() noexcept;

/// Returns true if none of the work is left that the application had queued at `since_ns` (0: now) and that
/// would have to be waited for in the context's legacy stream. In order `device` it waits here and now.
/// Errors of the application's own work are left to the application: the copy that follows meets them too.
[[nodiscard]] bool application_is_idle(Context& context, std::uint64_t since_ns) noexcept;

/// Blocks until what the application has queued is done.
void wait_for_application(Context& context) noexcept;

/// Takes an event and records it behind what the application has queued. The context must be current.
[[nodiscard]] Status mark_application(const ContextRef& context, Event& event) noexcept;

/// Orders work queued on `own` from now on behind what the event covers. Its context must be current.
[[nodiscard]] Status order_after(const Event& event, CUstream own) noexcept;

/// Orders work queued on `own` from now on behind the work that the application had queued in the same
/// context at `since_ns` (handed_over_ns of a view; 0: now). The context must be current. While the
/// application captures a graph in a stream that the legacy stream would wait for, only the legacy stream's
/// own work is waited for: captured work does not run, and querying more would spoil the capture.
[[nodiscard]] Status order_after_application(const ContextRef& context, CUstream own,
                                             std::uint64_t since_ns = 0) noexcept;

/// Sets `own` to a stream for a caller that waits in place, ordered so: that of `use` if nothing is left to
/// wait for, else another, so that callers for whose copies nothing is left do not wait behind it. The
/// context must be current.
[[nodiscard]] Status take_blocking_stream(const ContextRef& context, StreamUse use, std::uint64_t since_ns,
                                          CUstream& own) noexcept;

}  // namespace penstock::transports::cuda
