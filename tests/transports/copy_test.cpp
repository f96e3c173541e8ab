// Copies between layouts in pieces and contiguous memory of every kind, some bytes at a time.
#include "transports/copies/copy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/copies/layout_table.hpp"
#include "transports/cuda/context.hpp"
#include "transports/cuda/shared_gpus.hpp"
#include "transports/machine.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t memory_bytes = 200'000;

/// Blocks and rows of any length at any distance.
Layout irregular(std::uint32_t seed, std::size_t unit) {
  std::mt19937 random(seed);
  const auto up_to = [&](std::size_t most) { return 1 + random() % most; };
  Layout layout;
  for (std::size_t offset = up_to(8) * unit;;) {
    Block block{static_cast<std::ptrdiff_t>(offset), up_to(30) * unit, 1, 0};
    if (random() % 3 == 0) {
      block.count = up_to(5);
      block.stride = static_cast<std::ptrdiff_t>(block.bytes + up_to(10) * unit);
    }
    const std::size_t rows =
        block.count > 1 ? block.count * static_cast<std::size_t>(block.stride) : block.bytes;
    offset += rows + up_to(20) * unit;
    if (offset + 64 * unit > memory_bytes - 1000) return layout;
    layout.append(block);
  }
}

std::vector<Layout> regular_and_irregular_layouts() {
  std::vector<Layout> all = {Layout::contiguous(8).repeated(1000, 64), Layout::contiguous(50'000, 3),
                             Layout::contiguous(24).repeated(5, 40).repeated(10, 300).repeated(20, 4000)};
  for (const std::size_t unit : {1u, 2u, 4u, 8u, 16u})
    all.push_back(irregular(static_cast<std::uint32_t>(unit), unit));
  return all;
}

/// Queues all copies of a layout, some bytes at a time, by `copy(cursor, begin, bytes, stream)`.
template <class Copy>
void copy_in_parts(const Layout& layout, std::size_t part, Copy copy) {
  const cuda::ContextRef context = cuda::Context::any(0);
  const cuda::ContextScope scope(*context);
  CUstream stream = nullptr;
  ASSERT_TRUE(context->stream(cuda::StreamUse::upload, stream).ok());
  LayoutCursor cursor(layout);
  for (std::size_t begin = 0; begin < layout.bytes(); begin += part) {
    const std::size_t bytes = std::min(part, layout.bytes() - begin);
    const Status copied = copy(cursor, begin, bytes, stream);
    ASSERT_TRUE(copied.ok()) << copied.where();
    EXPECT_EQ(cursor.position(), begin + bytes);
  }
  REQUIRE_CUDA(cuStreamSynchronize(stream));
}

Side side_of(BufferKind kind) {
  return lives_on_device(kind) ? Side::device : Side::host;
}

/// Out of each layout on a device into contiguous memory of that kind, and back.
void copy_all_layouts_by(BufferKind kind) {
  use_device(0);
  const GpuMemory laid_out(BufferKind::device, memory_bytes);
  const GpuMemory packed(kind, memory_bytes);
  const Side side = side_of(kind);
  std::uint64_t seed = 0;
  for (const Layout& layout : regular_and_irregular_layouts()) {
    for (const std::size_t part : {std::size_t{memory_bytes}, std::size_t{65536}, std::size_t{9999}}) {
      SCOPED_TRACE(testing::Message() << layout.blocks().size() << " blocks, parts of " << part);
      const std::size_t bytes = layout.bytes();
      const BufferView place{.buffer = inspect(laid_out.data()), .layout = layout};
      fill(laid_out, layout, bytes, ++seed);
      fill(packed, {}, 0, 0);
      copy_in_parts(
          layout, part, [&](LayoutCursor& cursor, std::size_t begin, std::size_t size, CUstream stream) {
            return copy_out(static_cast<char*>(packed.data()) + begin, side, place, cursor, size, stream);
          });
      EXPECT_EQ(first_difference(packed, Layout::contiguous(bytes), bytes, seed), -1);
      fill(laid_out, {}, 0, 0);
      copy_in_parts(layout, part,
                    [&](LayoutCursor& cursor, std::size_t begin, std::size_t size, CUstream stream) {
                      return copy_in(place, cursor, static_cast<const char*>(packed.data()) + begin, side,
                                     size, stream);
                    });
      EXPECT_EQ(first_difference(laid_out, layout, bytes, seed), -1);
    }
  }
}

/// Of few bytes, each by itself, to addresses that are aligned to nothing.
void upload_any_length_from(BufferKind kind) {
  use_device(0);
  const GpuMemory target(BufferKind::device, memory_bytes);
  const GpuMemory source(kind, memory_bytes);
  std::vector<std::size_t> lengths = {4095, 32767, 32768, 32769, 65537};
  for (std::size_t bytes = 1; bytes < 40; ++bytes) lengths.push_back(bytes);
  for (const std::size_t bytes : lengths) {
    SCOPED_TRACE(bytes);
    const Layout layout = Layout::contiguous(bytes, 5);
    const BufferView place{.buffer = inspect(target.data()), .layout = layout};
    fill(target, {}, 0, 0);
    const auto before = target.read();
    fill(source, Layout::contiguous(bytes, 3), bytes, bytes);
    copy_in_parts(layout, bytes,
                  [&](LayoutCursor& cursor, std::size_t begin, std::size_t size, CUstream stream) {
                    return copy_in(place, cursor, static_cast<const char*>(source.data()) + 3 + begin,
                                   side_of(kind), size, stream);
                  });
    EXPECT_EQ(first_difference(target, layout, bytes, bytes), -1);
    auto after = target.read();
    std::copy_n(before.begin() + 5, bytes, after.begin() + 5);
    EXPECT_EQ(before, after) << "bytes beside the copy were changed";
  }
}

class EachContiguousKind : public testing::TestWithParam<BufferKind> {};

TEST_P(EachContiguousKind, takes_what_lies_in_pieces_and_gives_it_back) {
  copy_all_layouts_by(GetParam());
}

TEST_P(EachContiguousKind, is_copied_from_in_any_length) {
  upload_any_length_from(GetParam());
}

/// In a process of its own: what a GPU is shared with stays known.
TEST_P(EachContiguousKind, serves_a_shared_gpu_as_well) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        set_shared_gpu_check([](std::uint64_t) { return true; });
        copy_all_layouts_by(GetParam());
        upload_any_length_from(GetParam());
        // at once: see joint_uploads_test.cpp
        std::_Exit(testing::Test::HasFailure() ? 1 : 0);
      },
      testing::ExitedWithCode(0), "");
}

std::string name_of_kind(const testing::TestParamInfo<BufferKind>& info) {
  std::string name = name_of(info.param);
  std::ranges::replace(name, ' ', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Copies, EachContiguousKind,
                         testing::Values(BufferKind::device, BufferKind::pinned, BufferKind::pageable,
                                         BufferKind::async_pool),
                         name_of_kind);

TEST(LayoutTable, is_made_once_for_all_copies_of_a_layout_and_goes_with_the_last) {
  use_device(0);
  const cuda::ContextRef context = cuda::Context::any(0);
  const cuda::ContextScope scope(*context);
  std::weak_ptr<const LayoutTable> watched;
  {
    const Layout layout = irregular(7, 8);
    const Layout copy = layout;
    std::shared_ptr<const LayoutTable> table;
    std::shared_ptr<const LayoutTable> again;
    ASSERT_TRUE(LayoutTable::of(layout, context, table).ok());
    ASSERT_TRUE(LayoutTable::of(copy, context, again).ok());
    EXPECT_EQ(table, again);
    EXPECT_EQ(table->size(), layout.blocks().size());
    EXPECT_EQ(table->alignment() % 8, 0u);
    watched = table;
    // a layout that is changed has other runs
    ASSERT_TRUE(LayoutTable::of(layout.shifted(8), context, again).ok());
    EXPECT_NE(table, again);
  }
  EXPECT_TRUE(watched.expired());
}

TEST(LayoutTable, is_refused_to_one_block_and_to_what_is_too_large) {
  use_device(0);
  const cuda::ContextRef context = cuda::Context::any(0);
  const cuda::ContextScope scope(*context);
  std::shared_ptr<const LayoutTable> table;
  EXPECT_EQ(LayoutTable::of(Layout::contiguous(8).repeated(5, 16), context, table).code(), Code::declined);
  Layout large = Layout::contiguous(std::size_t{3} << 30);
  large.append({.offset = std::ptrdiff_t{1} << 33, .bytes = std::size_t{2} << 30});
  EXPECT_EQ(LayoutTable::of(large, context, table).code(), Code::declined);
}

}  // namespace
}  // namespace penstock::transports::test
