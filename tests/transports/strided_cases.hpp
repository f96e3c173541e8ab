// Copies between layouts in pieces of every unit and depth, for the tests of what copies them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/copies/copy_kernels.hpp"

namespace penstock::transports::test {

/// Where the n-th byte of a side lies.
[[nodiscard]] inline std::size_t offset_of(const CopySide& side, std::size_t position) {
  position += side.begin;
  if (side.is_contiguous()) return position;
  std::size_t offset = position % side.loops.row_bytes;
  std::size_t row = position / side.loops.row_bytes;
  for (std::uint32_t loop = 0; loop < side.loops.depth; ++loop) {
    offset += row % side.loops.counts[loop] * static_cast<std::size_t>(side.loops.strides[loop]);
    row /= side.loops.counts[loop];
  }
  return offset;
}

struct StridedCase {
  const char* name;
  CopySide to;
  CopySide from;
  std::size_t to_address;  ///< in memory of strided_cases_bytes
  std::size_t from_address;
  std::size_t bytes;

  [[nodiscard]] CopyItem item(void* target, const void* source) const {
    return {static_cast<char*>(target) + to_address, static_cast<const char*>(source) + from_address,
            static_cast<std::uint32_t>(bytes), to, from};
  }
  void copy(const std::vector<std::uint8_t>& source, std::vector<std::uint8_t>& target) const {
    for (std::size_t i = 0; i < bytes; ++i)
      target[to_address + offset_of(to, i)] = source[from_address + offset_of(from, i)];
  }
};

inline constexpr std::size_t strided_cases_bytes = 64 << 10;

namespace strided_sides {
inline constexpr CopySide contiguous;
inline constexpr CopySide columns{{.row_bytes = 8, .depth = 1, .counts = {512}, .strides = {64}}};
inline constexpr CopySide wide{{.row_bytes = 48, .depth = 1, .counts = {100}, .strides = {80}}};
inline constexpr CopySide box{{.row_bytes = 24, .depth = 3, .counts = {5, 4, 3}, .strides = {40, 240, 1200}}};
inline constexpr CopySide transposed{{.row_bytes = 4, .depth = 2, .counts = {30, 12}, .strides = {48, 4}}};
inline constexpr CopySide odd{{.row_bytes = 7, .depth = 2, .counts = {11, 9}, .strides = {10, 131}}};
inline constexpr CopySide second_half{{.row_bytes = 8, .depth = 1, .counts = {512}, .strides = {64}}, 2048};
}  // namespace strided_sides

inline constexpr StridedCase strided_cases[] = {
    {"gather", strided_sides::contiguous, strided_sides::columns, 0, 8, 4096},
    {"scatter", strided_sides::columns, strided_sides::contiguous, 8, 16, 4096},
    {"wide", strided_sides::contiguous, strided_sides::wide, 0, 0, 4800},
    {"box to wide", strided_sides::wide, strided_sides::box, 0, 8, 1440},
    {"transpose", strided_sides::contiguous, strided_sides::transposed, 4, 0, 1440},
    {"odd", strided_sides::odd, strided_sides::contiguous, 3, 1, 693},
    {"odd to columns", strided_sides::columns, strided_sides::odd, 0, 5, 693},
    {"a part", strided_sides::second_half, strided_sides::contiguous, 0, 0, 1000},
    {"part of a row", strided_sides::contiguous, strided_sides::columns, 1, 3, 4093},
    {"one row", strided_sides::contiguous, strided_sides::columns, 0, 0, 8},
};

}  // namespace penstock::transports::test
