// Copies of host memory by the CPU, large ones by several cores. Knows no layouts and no CUDA.
#pragma once

#include <cstddef>

namespace penstock::transports {

/// Copies `rows` pieces of `bytes` each, `from_pitch` apart, to places `to_pitch` apart. Large copies go past
/// the caches.
void copy_host_rows(char* to, std::ptrdiff_t to_pitch, const char* from, std::ptrdiff_t from_pitch,
                    std::size_t bytes, std::size_t rows) noexcept;

inline void copy_host(void* to, const void* from, std::size_t bytes) noexcept {
  copy_host_rows(static_cast<char*>(to), 0, static_cast<const char*>(from), 0, bytes, 1);
}

}  // namespace penstock::transports
