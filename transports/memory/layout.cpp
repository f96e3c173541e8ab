#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "transports/memory/buffer.hpp"

namespace penstock::transports {
namespace {

constexpr std::ptrdiff_t as_offset(std::size_t bytes) noexcept {
  return static_cast<std::ptrdiff_t>(bytes);
}

constexpr std::ptrdiff_t piece_offset(const Block& block, std::size_t index) noexcept {
  return block.offset + as_offset(index) * block.stride;
}

constexpr std::ptrdiff_t end_of_last_piece(const Block& block) noexcept {
  return piece_offset(block, block.count - 1) + as_offset(block.bytes);
}

/// Joins pieces that touch into one. A single piece has no stride.
constexpr Block normalised(Block block) noexcept {
  if (block.count > 1 && block.stride == as_offset(block.bytes)) {
    block.bytes *= block.count;
    block.count = 1;
  }
  if (block.count == 1) block.stride = 0;
  return block;
}

/// A repeated block must be one that a two-dimensional copy can move: its pieces ascend and do not overlap.
constexpr bool is_ascending(const Block& block) noexcept {
  return block.stride > as_offset(block.bytes);
}

/// Lengthens `last` by `next` if both are pieces of one regular pattern.
bool lengthens_pattern(Block& last, const Block& next) noexcept {
  if (last.bytes != next.bytes) return false;
  const std::ptrdiff_t step = next.offset - piece_offset(last, last.count - 1);
  if (step <= as_offset(last.bytes)) return false;
  if (last.count > 1 && last.stride != step) return false;
  if (next.count > 1 && next.stride != step) return false;
  last.stride = step;
  last.count += next.count;
  return true;
}

/// There must be a block, and no more bytes than loops can describe.
std::optional<StridedLoops> loops_of(std::span<const Block> blocks) noexcept {
  const Block& first = blocks.front();
  StridedLoops loops;
  loops.row_bytes = static_cast<std::uint32_t>(first.bytes);
  const auto add_loop = [&](std::size_t count, std::ptrdiff_t stride) {
    loops.counts[loops.depth] = static_cast<std::uint32_t>(count);
    loops.strides[loops.depth++] = stride;
  };
  if (first.count > 1) add_loop(first.count, first.stride);
  if (blocks.size() == 1) return loops;

  // the blocks repeat each other at one distance, or groups of them do at another
  const auto is_like_first = [&](const Block& block) {
    return block.bytes == first.bytes && block.count == first.count && block.stride == first.stride;
  };
  if (!std::ranges::all_of(blocks, is_like_first)) return std::nullopt;
  const std::ptrdiff_t distance = blocks[1].offset - first.offset;
  std::size_t group = 2;
  while (group < blocks.size() && blocks[group].offset - blocks[group - 1].offset == distance) ++group;
  if (distance <= 0 || blocks.size() % group != 0) return std::nullopt;
  add_loop(group, distance);
  if (group == blocks.size()) return loops;
  const std::ptrdiff_t group_distance = blocks[group].offset - first.offset;
  if (group_distance <= 0) return std::nullopt;
  for (std::size_t index = group; index < blocks.size(); ++index) {
    if (blocks[index].offset - blocks[index - group].offset != group_distance) return std::nullopt;
  }
  add_loop(blocks.size() / group, group_distance);
  return loops;
}

}  // namespace

Layout Layout::contiguous(std::size_t bytes, std::ptrdiff_t offset) {
  return bytes == 0 ? Layout() : Layout({.offset = offset, .bytes = bytes});
}

void Layout::append(Block block) {
  if (block.bytes == 0 || block.count == 0) return;
  block = normalised(block);
  if (block.count > 1 && !is_ascending(block)) {
    for (std::size_t piece = 0; piece < block.count; ++piece) {
      append({.offset = piece_offset(block, piece), .bytes = block.bytes});
    }
    return;
  }
  bytes_ += block.bytes * block.count;
  if (blocks_.empty()) {
    blocks_.push_back(block);
    return;
  }

  Block last = blocks_.own().back();
  if (end_of_last_piece(last) == block.offset) {
    // the last piece and the first one touch: cut both off their patterns and join them
    Block joined{.offset = piece_offset(last, last.count - 1), .bytes = last.bytes + block.bytes};
    if (--last.count == 0) {
      blocks_.pop_back();
    } else {
      blocks_.own().back() = normalised(last);
    }
    blocks_.push_back(joined);
    if (--block.count > 0) {
      block.offset += block.stride;
      blocks_.push_back(normalised(block));
    }
    // the blocks in front may now repeat
    for (std::size_t behind = block.count > 0 ? 2 : 1; behind > 0; --behind) {
      if (blocks_.size() <= behind) continue;
      const std::size_t at = blocks_.size() - behind;
      if (lengthens_pattern(blocks_.own()[at - 1], blocks_[at])) blocks_.erase(at);
    }
    return;
  }
  if (!lengthens_pattern(blocks_.own().back(), block)) blocks_.push_back(block);
}

Layout Layout::repeated(std::size_t repeats, std::ptrdiff_t extent) const {
  if (blocks_.size() == 1 && blocks_[0].count == 1) {
    Layout layout;
    layout.append(
        {.offset = blocks_[0].offset, .bytes = blocks_[0].bytes, .count = repeats, .stride = extent});
    return layout;
  }
  Layout layout;
  for (std::size_t repeat = 0; repeat < repeats; ++repeat) {
    for (Block block : blocks_.all()) {
      block.offset += as_offset(repeat) * extent;
      layout.append(block);
    }
  }
  return layout;
}

Layout Layout::shifted(std::ptrdiff_t offset) const {
  Layout layout = *this;
  if (offset == 0) return layout;
  for (Block& block : layout.blocks_.own()) block.offset += offset;
  return layout;
}

std::optional<StridedLoops> Layout::loops() const noexcept {
  if (bytes_ == 0 || bytes_ > UINT32_MAX) return std::nullopt;
  const auto find = [&] { return loops_of(blocks()); };
  KeptLoops* const kept = blocks_.kept_loops();
  return kept != nullptr ? kept->get(find) : find();
}

OffsetRange Layout::span() const noexcept {
  if (blocks_.empty()) return {};
  OffsetRange span{PTRDIFF_MAX, PTRDIFF_MIN};
  for (const Block& block : blocks()) {
    span.begin = std::min(span.begin, block.offset);
    span.end = std::max(span.end, end_of_last_piece(block));
  }
  return span;
}

Layout Layout::prefix(std::size_t bytes) const {
  if (bytes >= bytes_) return *this;
  Layout layout;
  for (const Block& block : blocks_.all()) {
    const std::size_t left = bytes - layout.bytes_;
    if (left == 0) break;
    const std::size_t whole_pieces = std::min(block.count, left / block.bytes);
    layout.append(
        {.offset = block.offset, .bytes = block.bytes, .count = whole_pieces, .stride = block.stride});
    if (whole_pieces < block.count) {
      layout.append({.offset = piece_offset(block, whole_pieces), .bytes = left % block.bytes});
    }
  }
  return layout;
}

}  // namespace penstock::transports
