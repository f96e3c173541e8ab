// Walks through a layout in sending order and returns pieces regular enough for one copy call each. Knows no
// CUDA.
#pragma once

#include <cstddef>

#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Refers to the layout, which must outlive it. Thread: one at a time.
class LayoutCursor {
 public:
  explicit LayoutCursor(const Layout& layout) noexcept : layout_(&layout) {}

  /// Returns the next piece, rows of equal length, at most `most` bytes in all, and moves past it. Bytes are
  /// 0 only at the end (or if `most` is 0).
  [[nodiscard]] Block next(std::size_t most) noexcept;
  /// Moves past this many bytes. Cost: none, unless next() is called again.
  void skip(std::size_t bytes) noexcept {
    position_ += bytes;
    skipped_ += bytes;
  }
  /// The position of the next byte in the message.
  [[nodiscard]] std::size_t position() const noexcept { return position_; }

 private:
  [[nodiscard]] Block take(std::size_t most) noexcept;

  const Layout* layout_;
  std::size_t position_ = 0;
  std::size_t skipped_ = 0;  ///< bytes that the following three have not moved past yet
  std::size_t block_ = 0;
  std::size_t row_ = 0;   ///< in the block
  std::size_t byte_ = 0;  ///< in the row
};

}  // namespace penstock::transports
