// Pageable host memory for the shadows of device buffers, reused between calls. A piece may be far larger
// than what is touched of it (a datatype with wide gaps): pages that nobody touches cost nothing. Knows
// neither MPI nor CUDA.
#pragma once

#include <cstddef>

namespace penstock::interpose {

/// Owns a piece; gives it back to the pool when it goes. Contents are undefined.
/// Thread: take() any, a piece one at a time. Errors: take() of too much gives an empty piece.
class HostMemory {
 public:
  HostMemory() noexcept = default;
  [[nodiscard]] static HostMemory take(std::size_t bytes) noexcept;
  HostMemory(HostMemory&& other) noexcept;
  HostMemory& operator=(HostMemory&& other) noexcept;
  ~HostMemory();

  /// Page-aligned; null if empty.
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  HostMemory(std::byte* data, std::size_t bytes) noexcept : data_(data), bytes_(bytes) {}

  std::byte* data_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::interpose
