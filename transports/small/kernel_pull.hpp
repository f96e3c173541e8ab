// A pull by a kernel launch of its own: a payload of any size, from and into layouts that the copy engine
// would take row by row. Also determines which copies a kernel can make at all. Knows neither offers nor how
// the source became addressable.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "transports/copies/copy_kernels.hpp"
#include "transports/copies/copy_pull.hpp"

namespace penstock::transports {

/// Returns whether kernels of the context can copy to there, from device memory whose layout nested loops
/// describe.
[[nodiscard]] bool can_copy_by_kernel(const BufferView& destination,
                                      const cuda::ContextRef& context) noexcept;

/// Returns whether a kernel can make the copy: between unmanaged device memory or from pinned memory to it,
/// in layouts that nested loops can describe, or from device to pinned memory, both in one piece. Only where
/// no other process uses the GPU.
[[nodiscard]] bool suits_copy_kernels(const CopySource& source, const BufferView& destination,
                                      const cuda::ContextRef& context);

/// The same between managed memory of the context's device and pinned memory, both in one piece. A kernel
/// brings managed memory that the CPU used last to the GPU, page by page: that pays if many copies share a
/// launch.
[[nodiscard]] bool suits_kernels_for_managed(const CopySource& source, const BufferView& destination,
                                             const cuda::ContextRef& context);

/// Describes a copy that suits_copy_kernels() or suits_kernels_for_managed().
[[nodiscard]] CopyItem item_of(const CopySource& source, const BufferView& destination) noexcept;

/// Starts a pull that suits_copy_kernels(), after the application's earlier work. Thread: any; the pull one
/// at a time. Errors: the driver's refusal; `declined` if all flags are in use.
[[nodiscard]] Status start_by_kernel(const CopySource& source, const BufferView& destination,
                                     const cuda::ContextRef& context, std::unique_ptr<Pull>& pull);

/// Starts several copies by one launch, behind the work that the application had queued in the context at
/// `handed_over_ns` (0: now). There are at most CopyKernels::most_items; they may run in any order. Kernels
/// of the context must reach all of their memory, which `keeper` keeps mapped. Thread: any; the pull one at a
/// time. Errors: the driver's refusal; `declined` if no kernel serves: nothing was copied.
[[nodiscard]] Status start_together(std::span<const CopyItem> items, std::uint64_t handed_over_ns,
                                    const cuda::ContextRef& context, std::shared_ptr<const void> keeper,
                                    std::unique_ptr<Pull>& pull);

}  // namespace penstock::transports
