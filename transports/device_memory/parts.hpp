// Finds the allocations in which the bytes of a view lie. MPI lets one message have bytes in several, if its
// datatype holds absolute addresses (MPI_BOTTOM): each is then copied separately. Knows neither MPI nor how
// bytes are moved.
#pragma once

#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Returns whether any byte of the layout, counted from `base`, is on a device (is_on_device()). Thread: any.
/// Cost: a query or two for each piece of host memory and each 2 MiB of it; none on the same page as the
/// last, nor for the rows of an array within the same 2 MiB.
[[nodiscard]] bool reaches_device(const void* base, const Layout& layout) noexcept;

/// Gives the view its parts, if its bytes lie in several allocations of devices, or in one and in host
/// memory: one part for each, and one for all host memory. Memory mapped in one range of virtual memory
/// counts as one allocation. A part whose memory was freed makes the view's kind `unknown`. Thread: any.
/// Cost: as reaches_device(), and a query for each allocation. Errors: std::bad_alloc.
void find_parts(BufferView& view);

/// Returns whether all of a view in host memory is pinned, or none of it: else no GPU may copy it in one
/// piece. Thread: any. Cost: a query for each piece of a layout.
[[nodiscard]] bool is_of_one_host_kind(const BufferView& view) noexcept;

}  // namespace penstock::transports
