#include "transports/memory/layout_cursor.hpp"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace penstock::transports {
namespace {

void append_offsets(const Block& block, std::vector<std::ptrdiff_t>& offsets) {
  for (std::size_t row = 0; row < block.count; ++row) {
    for (std::size_t byte = 0; byte < block.bytes; ++byte) {
      offsets.push_back(block.offset + static_cast<std::ptrdiff_t>(row) * block.stride +
                        static_cast<std::ptrdiff_t>(byte));
    }
  }
}

Layout irregular() {
  Layout layout;
  layout.append({0, 3, 7, 10});
  layout.append({200, 1, 1, 0});
  layout.append({90, 16, 2, -30});
  layout.append({300, 40, 1, 0});
  return layout;
}

TEST(LayoutCursor, gives_every_byte_once_and_in_order_however_it_is_cut) {
  const Layout layout = irregular();
  std::vector<std::ptrdiff_t> wanted;
  for (const Block& block : layout.blocks()) append_offsets(block, wanted);
  std::mt19937 random(7);
  for (std::size_t most = 1; most <= layout.bytes() + 1; ++most) {
    LayoutCursor cursor(layout);
    std::vector<std::ptrdiff_t> found;
    for (;;) {
      const std::size_t asked = most > layout.bytes() ? 1 + random() % 9 : most;
      const Block piece = cursor.next(asked);
      if (piece.bytes == 0) break;
      ASSERT_LE(piece.bytes * piece.count, asked);
      append_offsets(piece, found);
    }
    EXPECT_EQ(found, wanted) << "in pieces of at most " << most;
  }
}

TEST(LayoutCursor, gives_a_regular_block_in_one_piece) {
  Layout layout;
  layout.append({0, 8, 1000, 64});
  LayoutCursor cursor(layout);
  const Block piece = cursor.next(SIZE_MAX);
  EXPECT_EQ(piece, (Block{0, 8, 1000, 64}));
  EXPECT_EQ(cursor.next(SIZE_MAX).bytes, 0u);
}

TEST(LayoutCursor, of_an_empty_layout_gives_nothing) {
  const Layout layout;
  LayoutCursor cursor(layout);
  EXPECT_EQ(cursor.next(100).bytes, 0u);
}

}  // namespace
}  // namespace penstock::transports
