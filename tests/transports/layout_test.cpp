#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <random>
#include <thread>
#include <vector>

#include "transports/memory/buffer.hpp"

namespace penstock::transports {
namespace {

std::vector<std::ptrdiff_t> offsets_of(const Block& block) {
  std::vector<std::ptrdiff_t> offsets;
  for (std::size_t piece = 0; piece < block.count; ++piece) {
    for (std::size_t byte = 0; byte < block.bytes; ++byte) {
      offsets.push_back(block.offset + static_cast<std::ptrdiff_t>(piece) * block.stride +
                        static_cast<std::ptrdiff_t>(byte));
    }
  }
  return offsets;
}

/// Where each byte of the message lies, in order: what a layout means.
std::vector<std::ptrdiff_t> offsets_of(const Layout& layout) {
  std::vector<std::ptrdiff_t> offsets;
  for (const Block& block : layout.blocks()) {
    const std::vector<std::ptrdiff_t> more = offsets_of(block);
    offsets.insert(offsets.end(), more.begin(), more.end());
  }
  return offsets;
}

void expect_two_dimensional(const Layout& layout) {
  for (const Block& block : layout.blocks()) {
    EXPECT_GT(block.bytes, 0u);
    EXPECT_GT(block.count, 0u);
    if (block.count == 1) {
      EXPECT_EQ(block.stride, 0);
    } else {
      EXPECT_GT(block.stride, static_cast<std::ptrdiff_t>(block.bytes));
    }
  }
}

TEST(Layout, default_is_empty_and_contiguous) {
  const Layout layout;
  EXPECT_EQ(layout.bytes(), 0u);
  EXPECT_TRUE(layout.is_contiguous());
  EXPECT_EQ(layout.first_offset(), 0);
}

TEST(Layout, of_no_bytes_has_no_block) {
  EXPECT_TRUE(Layout::contiguous(0, 40).blocks().empty());
  Layout layout;
  layout.append({.offset = 8, .bytes = 4, .count = 0, .stride = 16});
  layout.append({.offset = 8, .bytes = 0, .count = 3, .stride = 16});
  EXPECT_TRUE(layout.blocks().empty());
}

TEST(Layout, joins_pieces_that_touch) {
  Layout layout = Layout::contiguous(8, 16);
  layout.append({.offset = 24, .bytes = 4});
  EXPECT_TRUE(layout.is_contiguous());
  EXPECT_EQ(layout.bytes(), 12u);
  EXPECT_EQ(layout.first_offset(), 16);
}

TEST(Layout, keeps_a_regular_pattern_as_one_block) {
  Layout layout;
  for (std::ptrdiff_t row = 0; row < 100; ++row) layout.append({.offset = row * 64, .bytes = 8});
  ASSERT_EQ(layout.blocks().size(), 1u);
  EXPECT_EQ(layout.blocks()[0], (Block{.offset = 0, .bytes = 8, .count = 100, .stride = 64}));
}

TEST(Layout, turns_a_dense_repetition_into_one_piece) {
  EXPECT_TRUE(Layout::contiguous(8).repeated(1000, 8).is_contiguous());
  EXPECT_EQ(Layout::contiguous(8).repeated(1000, 8).bytes(), 8000u);
}

TEST(Layout, keeps_message_order_when_pieces_descend_or_overlap) {
  const Layout descending = Layout::contiguous(4).repeated(3, -16);
  EXPECT_EQ(offsets_of(descending),
            (std::vector<std::ptrdiff_t>{0, 1, 2, 3, -16, -15, -14, -13, -32, -31, -30, -29}));
  expect_two_dimensional(descending);
  const Layout on_the_spot = Layout::contiguous(2).repeated(3, 0);
  EXPECT_EQ(offsets_of(on_the_spot), (std::vector<std::ptrdiff_t>{0, 1, 0, 1, 0, 1}));
  expect_two_dimensional(on_the_spot);
}

TEST(Layout, joins_a_piece_to_the_end_of_a_pattern) {
  Layout layout;
  layout.append({.offset = 0, .bytes = 8, .count = 3, .stride = 16});
  layout.append({.offset = 40, .bytes = 8});
  EXPECT_EQ(layout.bytes(), 32u);
  ASSERT_EQ(layout.blocks().size(), 2u);
  EXPECT_EQ(layout.blocks()[0], (Block{.offset = 0, .bytes = 8, .count = 2, .stride = 16}));
  EXPECT_EQ(layout.blocks()[1], (Block{.offset = 32, .bytes = 16}));
}

/// Where the bytes of nested loops lie, in order.
std::vector<std::ptrdiff_t> offsets_of(const StridedLoops& loops) {
  std::vector<std::ptrdiff_t> offsets{0};
  for (std::uint32_t loop = loops.depth; loop-- > 0;) {
    std::vector<std::ptrdiff_t> outer = std::move(offsets);
    offsets.clear();
    for (const std::ptrdiff_t base : outer)
      for (std::uint32_t i = 0; i < loops.counts[loop]; ++i)
        offsets.push_back(base + i * loops.strides[loop]);
  }
  std::vector<std::ptrdiff_t> bytes;
  for (const std::ptrdiff_t row : offsets)
    for (std::uint32_t i = 0; i < loops.row_bytes; ++i) bytes.push_back(row + i);
  return bytes;
}

TEST(Layout, is_told_by_nested_loops_where_it_is_regular) {
  const Layout rows = Layout::contiguous(8).repeated(5, 24);
  const Layout planes = rows.repeated(4, 1000);
  const Layout boxes = planes.repeated(3, 5000);
  const Layout transposed = Layout::contiguous(4).repeated(6, 64).repeated(3, 4);
  const Layout one = Layout::contiguous(100);
  for (const Layout* layout : {&one, &rows, &planes, &boxes, &transposed}) {
    const auto loops = layout->loops();
    ASSERT_TRUE(loops.has_value());
    EXPECT_EQ(offsets_of(*loops), offsets_of(layout->shifted(-layout->first_offset())));
    EXPECT_EQ(loops->bytes(), layout->bytes());
    const std::vector<std::ptrdiff_t> offsets = offsets_of(*loops);
    EXPECT_EQ(loops->extent(), static_cast<std::uint64_t>(*std::ranges::max_element(offsets)) + 1);
  }
  EXPECT_EQ(boxes.loops()->depth, 3u);
}

TEST(Layout, is_not_told_by_loops_where_it_is_irregular) {
  Layout longer_last = Layout::contiguous(8).repeated(5, 24);
  longer_last.append({.offset = 200, .bytes = 9});
  const Layout four_deep =
      Layout::contiguous(8).repeated(2, 24).repeated(2, 100).repeated(2, 1000).repeated(2, 9999);
  const Layout descending = Layout::contiguous(8).repeated(2, 24).repeated(3, -1000);
  const Layout too_large = Layout::contiguous(std::size_t{1} << 31).repeated(2, std::ptrdiff_t{1} << 32);
  for (const Layout* layout :
       std::initializer_list<const Layout*>{&longer_last, &four_deep, &descending, &too_large})
    EXPECT_FALSE(layout->loops().has_value());
  EXPECT_FALSE(Layout().loops().has_value());
}

TEST(Layout, that_is_changed_after_its_loops_were_asked_for_is_told_by_others_and_its_copies_are_not) {
  const Layout planes = Layout::contiguous(8).repeated(5, 24).repeated(4, 1000);
  ASSERT_EQ(planes.loops()->counts[1], 4u);
  Layout longer = planes;
  longer.append({.offset = 4000, .bytes = 8, .count = 5, .stride = 24});
  EXPECT_EQ(longer.loops()->counts[1], 5u);
  Layout irregular = planes;
  irregular.append({.offset = 4000, .bytes = 9});
  EXPECT_FALSE(irregular.loops().has_value());
  EXPECT_FALSE(Layout(irregular).loops().has_value());
  longer.append({.offset = 5000, .bytes = 8, .count = 5, .stride = 24});
  EXPECT_EQ(longer.loops()->counts[1], 6u);
  EXPECT_EQ(planes.loops()->counts[1], 4u);
}

TEST(Layout, tells_its_loops_to_several_threads_at_once) {
  for (int round = 0; round < 100; ++round) {
    const Layout planes = Layout::contiguous(8).repeated(5, 24).repeated(400, 1000);
    std::vector<std::thread> threads;
    for (int thread = 0; thread < 3; ++thread) {
      threads.emplace_back([copy = planes] {
        for (int i = 0; i < 3; ++i) EXPECT_EQ(copy.loops()->counts[1], 400u);
      });
    }
    for (std::thread& thread : threads) thread.join();
  }
}

TEST(StridedLoops, of_another_process_that_cannot_be_right_have_no_extent) {
  const StridedLoops right{.row_bytes = 8, .depth = 1, .counts = {4}, .strides = {16}};
  EXPECT_EQ(right.extent(), 56u);
  StridedLoops wrong = right;
  wrong.depth = 4;
  EXPECT_EQ(wrong.extent(), 0u);
  wrong = right;
  wrong.counts[0] = 0;
  EXPECT_EQ(wrong.extent(), 0u);
  wrong = right;
  wrong.strides[0] = -16;
  EXPECT_EQ(wrong.extent(), 0u);
  wrong.strides[0] = INT64_MAX;
  EXPECT_EQ(wrong.extent(), 0u);
}

TEST(Layout, changes_of_a_copy_leave_the_original_alone) {
  Layout original = Layout::contiguous(8).repeated(3, 24).repeated(2, 1000);
  const std::vector<std::ptrdiff_t> before = offsets_of(original);
  Layout copy = original;
  copy.append({.offset = 5000, .bytes = 3});
  EXPECT_EQ(offsets_of(original), before);
  EXPECT_EQ(copy.bytes(), original.bytes() + 3);
}

TEST(Layout, shifted_moves_every_byte) {
  Layout layout;
  layout.append({.offset = 0, .bytes = 8, .count = 3, .stride = 16});
  layout.append({.offset = 100, .bytes = 3});
  std::vector<std::ptrdiff_t> expected = offsets_of(layout);
  for (std::ptrdiff_t& offset : expected) offset -= 50;
  EXPECT_EQ(offsets_of(layout.shifted(-50)), expected);
}

TEST(Layout, prefix_longer_than_the_layout_is_the_layout) {
  const Layout layout = Layout::contiguous(10);
  EXPECT_EQ(layout.prefix(11).bytes(), 10u);
  EXPECT_EQ(layout.prefix(0).bytes(), 0u);
}

/// Against plain lists of byte offsets, with small numbers so that pieces often touch, repeat and overlap.
TEST(Layout, means_the_bytes_that_were_appended_in_their_order) {
  std::mt19937 random(20260101);
  const auto between = [&](int first, int last) {
    return std::uniform_int_distribution<int>(first, last)(random);
  };
  for (int round = 0; round < 20000; ++round) {
    Layout layout;
    std::vector<std::ptrdiff_t> expected;
    const int blocks = between(0, 6);
    for (int index = 0; index < blocks; ++index) {
      const Block block{.offset = between(-2, 12) * 2,
                        .bytes = static_cast<std::size_t>(between(0, 3)) * 2,
                        .count = static_cast<std::size_t>(between(0, 3)),
                        .stride = between(-1, 5) * 2};
      layout.append(block);
      const std::vector<std::ptrdiff_t> more = offsets_of(block);
      expected.insert(expected.end(), more.begin(), more.end());
    }
    ASSERT_EQ(offsets_of(layout), expected) << "round " << round;
    ASSERT_EQ(layout.bytes(), expected.size());
    const auto [lowest, highest] = std::ranges::minmax_element(expected);
    const OffsetRange span = expected.empty() ? OffsetRange{} : OffsetRange{*lowest, *highest + 1};
    ASSERT_EQ(layout.span().begin, span.begin);
    ASSERT_EQ(layout.span().end, span.end);
    expect_two_dimensional(layout);

    const auto cut = static_cast<std::size_t>(between(0, static_cast<int>(expected.size())));
    const Layout prefix = layout.prefix(cut);
    ASSERT_EQ(offsets_of(prefix), std::vector<std::ptrdiff_t>(
                                      expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(cut)));
    expect_two_dimensional(prefix);

    const int extent = between(-1, 20);
    std::vector<std::ptrdiff_t> three_times;
    for (int repeat = 0; repeat < 3; ++repeat) {
      for (const std::ptrdiff_t offset : expected) three_times.push_back(offset + repeat * extent);
    }
    const Layout repeated = layout.repeated(3, extent);
    ASSERT_EQ(offsets_of(repeated), three_times) << "round " << round;
    expect_two_dimensional(repeated);
  }
}

}  // namespace
}  // namespace penstock::transports
