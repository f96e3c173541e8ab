// Decides when a kernel is resident for small copies, and starts the copies that it makes. The kernel is
// launched only while small copies follow each other quickly, so that it does not wait in vain, and while the
// caller waits for one of them anyway. Knows neither offers nor how the sources became addressable.
#pragma once

#include <memory>

#include "transports/small/small_copies.hpp"

namespace penstock::transports {

/// Returns whether the resident kernel could make this copy into an idle view. The source lies on a device
/// that kernels of the context reach; the destination on a device, or in host memory if the copy is so small
/// that a bounce buffer does not slow it down.
[[nodiscard]] bool suits_resident_kernel(const CopySource& source, const BufferView& destination) noexcept;
/// Returns whether several blocks of the kernel would share the copy.
[[nodiscard]] bool suits_sharing(const CopySource& source, const BufferView& destination) noexcept;
/// Starts a copy that suits_resident_kernel() if a kernel is ready; else returns null. Thread: any; the pull
/// one at a time. Errors of the pull: as CopyPull's.
[[nodiscard]] std::unique_ptr<Pull> start_on_resident_kernel(const CopySource& source,
                                                             const BufferView& destination,
                                                             const cuda::ContextRef& context);

/// Starts a copy alone: by the resident kernel if it suits_resident_kernel() and one is ready, else by the
/// copy engine, or, for layouts in pieces, by a launch of its own. Errors: as CopyPull's,
/// start_by_kernel()'s.
[[nodiscard]] Status start_alone(const CopySource& source, const BufferView& destination,
                                 const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
