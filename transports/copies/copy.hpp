// Copies between a view (a buffer with a layout) and contiguous memory, as many bytes at a time as the
// caller requests: queued on a CUDA stream, or by the CPU. Knows neither processes nor messages.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/memory/layout_cursor.hpp"

namespace penstock::transports {

/// The memory of the contiguous side of a copy.
enum class Side : std::uint8_t { host, device };

/// From this many bytes in a row or an irregular piece on, the copy engine is as fast as memory. It takes
/// shorter rows one by one, and each irregular piece costs a call.
inline constexpr std::size_t long_piece_bytes = 16u << 10;
[[nodiscard]] bool is_in_short_pieces(const Layout& layout) noexcept;

/// Queue copies of the next `bytes` of `view` from `cursor` on: from `source` into it, or out of it to
/// `destination`. The stream's context must be current. Calls with pageable memory may block.
[[nodiscard]] Status copy_in(const BufferView& view, LayoutCursor& cursor, const void* source,
                             Side source_side, std::size_t bytes, CUstream stream) noexcept;
[[nodiscard]] Status copy_out(void* destination, Side destination_side, const BufferView& view,
                              LayoutCursor& cursor, std::size_t bytes, CUstream stream) noexcept;

/// The same between host memory, by the calling thread.
[[nodiscard]] Status copy_in_host(const BufferView& view, LayoutCursor& cursor, const void* source,
                                  std::size_t bytes) noexcept;
[[nodiscard]] Status copy_out_host(void* destination, const BufferView& view, LayoutCursor& cursor,
                                   std::size_t bytes) noexcept;

}  // namespace penstock::transports
