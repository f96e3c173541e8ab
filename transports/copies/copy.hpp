// Copies between a place (a buffer with a layout) and contiguous memory, as many bytes as are asked for at a
// time: queued on a CUDA stream, or by the CPU. Knows neither processes nor messages.
#pragma once

#include <cuda.h>

#include <cstddef>
#include <cstdint>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/memory/layout_cursor.hpp"

namespace penstock::transports {

/// Where the contiguous side of a copy lies.
enum class Side : std::uint8_t { host, device };

/// Bytes in a row or an irregular piece from which on the copy engine is as fast as memory: shorter rows it
/// takes one by one, and each irregular piece costs a call.
inline constexpr std::size_t long_piece_bytes = 16u << 10;
[[nodiscard]] bool is_in_short_pieces(const Layout& layout) noexcept;

/// Queue copies of the next `bytes` that `cursor` gives of `place`: from `source` into it, or out of it to
/// `destination`. The stream's context must be current. Pageable memory may make them wait.
[[nodiscard]] Status copy_in(const Place& place, LayoutCursor& cursor, const void* source, Side source_side,
                             std::size_t bytes, CUstream stream) noexcept;
[[nodiscard]] Status copy_out(void* destination, Side destination_side, const Place& place,
                              LayoutCursor& cursor, std::size_t bytes, CUstream stream) noexcept;

/// The same between host memory by the calling thread.
[[nodiscard]] Status copy_in_host(const Place& place, LayoutCursor& cursor, const void* source,
                                  std::size_t bytes) noexcept;
[[nodiscard]] Status copy_out_host(void* destination, const Place& place, LayoutCursor& cursor,
                                   std::size_t bytes) noexcept;

}  // namespace penstock::transports
