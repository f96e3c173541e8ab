// Lends pageable host memory for the stand-ins of device buffers, and reuses it between calls. A piece may be
// far larger than the part in use (a datatype with wide gaps): untouched pages cost nothing. Knows neither
// MPI nor CUDA.
#pragma once

#include <cstddef>

namespace penstock::interpose {

/// Owns a piece; the destructor returns it to the pool. Its contents are undefined. Thread: take() any, a
/// piece one at a time. Errors: take() of too much returns an empty piece.
class HostMemory {
 public:
  HostMemory() noexcept = default;
  [[nodiscard]] static HostMemory take(std::size_t bytes) noexcept;
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();

  /// Returns a page-aligned address; null if empty.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  HostMemory(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::interpose
