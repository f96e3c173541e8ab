// When a kernel stands by for small copies, and the copies that it makes. It is launched only as long as
// small copies follow each other quickly, so that it does not stand by in vain, and while the caller waits
// for one of them anyway. Knows neither offers nor how the sources came to be addressable.
#pragma once

#include <memory>

#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// It could make this copy, into a place that is idle: from a device that kernels of the context reach to
/// a device, or so little to host memory that a bounce buffer does not slow it down.
[[nodiscard]] bool suits_standby(const CopySource& source, const Place& destination) noexcept;
/// Several blocks of the kernel would share the copy.
[[nodiscard]] bool suits_sharing(const CopySource& source, const Place& destination) noexcept;
/// Starts a copy that suits_standby(), if a kernel is ready; else null. Thread: any; the pull one at a time.
/// Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> start_standing_by(const CopySource& source, const Place& destination,
                                                      const cuda::ContextRef& context);

/// Starts a copy on its own: by the kernel if it suits_standby() and one is ready, else by the copy engine,
/// or of layouts in pieces by a kernel of its own. Errors: as CopyPull's, start_by_kernel()'s.
[[nodiscard]] Status start_alone(const CopySource& source, const Place& destination,
                                 const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
