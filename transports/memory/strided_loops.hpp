// Describes by nested loops how the bytes of a message lie in memory: a kernel can compute an address from
// them, and a sender can publish them to another process. For host code, nvcc and the simulated GPU alike.
// Knows no buffer.
#pragma once

#include <cstdint>

namespace penstock::transports {

/// Rows of `row_bytes`; `counts[0]` of them `strides[0]` apart, `counts[1]` of these groups `strides[1]`
/// apart, and so on: `depth` loops. Unit of sizes and strides: bytes. Trivially copyable.
struct StridedLoops {
  static constexpr std::uint32_t most_loops = 3;

  std::uint32_t row_bytes = 0;
  std::uint32_t depth = 0;  ///< 0: all in one piece
  std::uint32_t counts[most_loops] = {};
  std::uint32_t reserved = 0;
  std::int64_t strides[most_loops] = {};  ///< positive

  /// Returns the distance from the first byte to behind the last; 0 if the numbers, which another process may
  /// have written, cannot be right.
  [[nodiscard]] constexpr std::uint64_t extent() const noexcept {
    std::uint64_t extent = row_bytes;
    if (depth > most_loops || row_bytes == 0) return 0;
    for (std::uint32_t loop = 0; loop < depth; ++loop) {
      constexpr std::uint64_t most = std::uint64_t{1} << 62;
      if (counts[loop] == 0 || strides[loop] <= 0) return 0;
      const std::uint64_t steps = counts[loop] - 1;
      const auto stride = static_cast<std::uint64_t>(strides[loop]);
      if (steps != 0 && stride > (most - extent) / steps) return 0;
      extent += steps * stride;
    }
    return extent;
  }
  [[nodiscard]] constexpr std::uint64_t bytes() const noexcept {
    std::uint64_t bytes = row_bytes;
    for (std::uint32_t loop = 0; loop < depth && loop < most_loops; ++loop) {
      if (bytes > UINT32_MAX) return 0;
      bytes *= counts[loop];
    }
    return bytes;
  }
};

}  // namespace penstock::transports
