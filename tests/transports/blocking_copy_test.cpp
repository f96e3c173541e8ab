#include <gtest/gtest.h>

#include "tests/transports/gpu_memory.hpp"
#include "transports/copy_selection/blocking_copy.hpp"

namespace penstock::transports::test {
namespace {

Layout rows(std::size_t count) {
  Layout layout;
  layout.append({16, 100, count, 160});
  layout.append({static_cast<std::ptrdiff_t>(count) * 160 + 64, 7, 1, 0});
  return layout;
}

/// Sizes around a chunk of the bounce, and several times its ring.
const std::vector<Layout>& layouts() {
  static const std::vector<Layout> all = {Layout(),
                                          Layout::contiguous(1),
                                          Layout::contiguous(1000, 24),
                                          Layout::contiguous((1 << 20) - 1),
                                          Layout::contiguous((1 << 20) + 1),
                                          Layout::contiguous((5 << 20) + 3),
                                          Layout::contiguous((21 << 20) + 3),
                                          rows(1),
                                          rows(11'000),
                                          rows(40'000),
                                          rows(110'000)};
  return all;
}

std::size_t extent(const Layout& layout) {
  std::ptrdiff_t end = 0;
  for (const Block& block : layout.blocks()) {
    end = std::max(end, block.offset + static_cast<std::ptrdiff_t>(block.count - 1) * block.stride +
                            static_cast<std::ptrdiff_t>(block.bytes));
  }
  return static_cast<std::size_t>(end) + 32;
}

class BlockingCopy : public testing::TestWithParam<BufferKind> {};

TEST_P(BlockingCopy, brings_a_payload_to_host_memory) {
  for (const BufferKind host_kind : {BufferKind::pageable, BufferKind::pinned}) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(testing::Message() << layout.bytes() << " bytes to " << name_of(host_kind) << " memory");
      const GpuMemory memory(GetParam(), extent(layout));
      fill(memory, layout, layout.bytes(), 3);
      const GpuMemory host(host_kind, layout.bytes() + 64);
      fill(host, {}, 0, 0);
      ASSERT_TRUE(download(host.data(), {inspect(memory.data()), layout}).ok());
      EXPECT_EQ(first_difference(host, Layout::contiguous(layout.bytes()), layout.bytes(), 3), -1);
    }
  }
}

TEST_P(BlockingCopy, puts_a_payload_in_its_place_and_nowhere_else) {
  for (const BufferKind host_kind : {BufferKind::pageable, BufferKind::pinned}) {
    for (const Layout& layout : layouts()) {
      SCOPED_TRACE(testing::Message() << layout.bytes() << " bytes from " << name_of(host_kind) << " memory");
      const GpuMemory host(host_kind, layout.bytes() + 64);
      fill(host, Layout::contiguous(layout.bytes()), layout.bytes(), 4);
      const GpuMemory memory(GetParam(), extent(layout));
      fill(memory, {}, 0, 0);
      ASSERT_TRUE(upload({inspect(memory.data()), layout}, host.data()).ok());
      EXPECT_EQ(first_difference(memory, layout, layout.bytes(), 4), -1);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, BlockingCopy, testing::ValuesIn(buffer_kinds), [](const auto& test) {
  std::string name = name_of(test.param);
  for (char& letter : name) letter = letter == ' ' ? '_' : letter;
  return name;
});

}  // namespace
}  // namespace penstock::transports::test
