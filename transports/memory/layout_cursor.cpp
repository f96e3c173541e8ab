#include "transports/memory/layout_cursor.hpp"

#include <algorithm>

namespace penstock::transports {

Block LayoutCursor::next(std::size_t most) noexcept {
  while (skipped_ > 0) {
    const Block passed = take(skipped_);
    if (passed.bytes == 0) return {};
    skipped_ -= passed.bytes * passed.count;
  }
  const Block piece = take(most);
  position_ += piece.bytes * piece.count;
  return piece;
}

Block LayoutCursor::take(std::size_t most) noexcept {
  const auto& blocks = layout_->blocks();
  while (block_ < blocks.size() && (row_ == blocks[block_].count || blocks[block_].bytes == 0)) {
    ++block_;
    row_ = 0;
  }
  if (block_ == blocks.size() || most == 0) return {};
  const Block& block = blocks[block_];
  Block piece{
      block.offset + static_cast<std::ptrdiff_t>(row_) * block.stride + static_cast<std::ptrdiff_t>(byte_),
      block.bytes, 1, block.stride};
  if (byte_ > 0 || most < block.bytes) {  // part of a row
    piece.bytes = std::min(block.bytes - byte_, most);
    byte_ += piece.bytes;
    if (byte_ < block.bytes) return piece;
    byte_ = 0;
    ++row_;
    return piece;
  }
  piece.count = std::min(block.count - row_, most / block.bytes);
  row_ += piece.count;
  return piece;
}

}  // namespace penstock::transports
