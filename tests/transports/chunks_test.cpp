// What carries payloads between nodes on one side: how they are cut, the rings, and the copies to and from
// them.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <memory>
#include <thread>
#include <vector>

#include "tests/transports/gpu_memory.hpp"
#include "transports/copies/chunk_copies.hpp"
#include "transports/copies/chunk_ring.hpp"

namespace penstock::transports::test {
namespace {

constexpr std::size_t kib = 1u << 10;
constexpr std::size_t mib = 1u << 20;

std::vector<std::size_t> chunks_of(std::size_t payload_bytes) {
  std::vector<std::size_t> chunks;
  for (std::size_t offset = 0; offset < payload_bytes; offset += chunks.back()) {
    chunks.push_back(chunk_bytes_at(offset, payload_bytes));
    if (chunks.back() == 0) break;
  }
  return chunks;
}

TEST(Chunks, make_up_the_payload_and_never_reach_past_the_end_of_a_ring) {
  for (std::size_t payload_bytes = 1; payload_bytes < 64 * mib; payload_bytes += payload_bytes / 7 + 1) {
    std::size_t offset = 0;
    for (const std::size_t chunk : chunks_of(payload_bytes)) {
      ASSERT_GT(chunk, 0u) << payload_bytes;
      ASSERT_LE(offset % ChunkRing::bytes + chunk, ChunkRing::bytes) << payload_bytes;
      offset += chunk;
    }
    ASSERT_EQ(offset, payload_bytes);
  }
}

TEST(Chunks, are_small_at_the_beginning_and_at_the_end_of_a_large_payload) {
  const std::vector<std::size_t> chunks = chunks_of(64 * mib);
  EXPECT_EQ(chunks.front(), 128 * kib);
  EXPECT_EQ(chunks.back(), 128 * kib);
  EXPECT_EQ(*std::ranges::max_element(chunks), 1 * mib);
  EXPECT_LT(chunks.size(), 64u + 12u);
}

TEST(Chunks, of_a_small_payload_is_one) {
  EXPECT_EQ(chunks_of(64), std::vector<std::size_t>{64});
  EXPECT_EQ(chunks_of(128 * kib), std::vector<std::size_t>{128 * kib});
}

class ChunkRings : public testing::Test {
 protected:
  ~ChunkRings() override { cuda::Bounce::drop_idle(); }

  bool take(ChunkRing& ring) {
    bool taken = false;
    EXPECT_TRUE(ring.try_take(inspect(memory_.data()), taken).ok());
    return taken;
  }
  /// As many as there are.
  std::vector<std::unique_ptr<ChunkRing>> take_all(Way way) {
    std::vector<std::unique_ptr<ChunkRing>> rings;
    do {
      rings.push_back(std::make_unique<ChunkRing>(way));
    } while (take(*rings.back()) && rings.size() < 100);
    rings.pop_back();
    return rings;
  }

 private:
  GpuMemory memory_{BufferKind::device, 64};
};

TEST_F(ChunkRings, are_a_bounded_number_for_each_way) {
  const auto out = take_all(Way::out);
  EXPECT_GE(out.size(), 2u);
  EXPECT_LE(out.size() * ChunkRing::bytes, 64 * mib);
  ChunkRing in(Way::in);
  EXPECT_TRUE(take(in)) << "those of the other way are not its";
}

TEST_F(ChunkRings, are_given_in_the_order_in_which_they_were_asked_for) {
  auto rings = take_all(Way::out);
  ChunkRing first(Way::out);
  auto second = std::make_unique<ChunkRing>(Way::out);
  ChunkRing third(Way::out);
  EXPECT_FALSE(take(first));
  rings.pop_back();
  EXPECT_FALSE(take(third));
  EXPECT_FALSE(take(*second));
  EXPECT_TRUE(take(first));
  EXPECT_TRUE(take(first)) << "it has it";
  rings.pop_back();
  second.reset();  // gives up waiting
  EXPECT_TRUE(take(third));
}

Layout rows_of_100_bytes(std::size_t count) {
  Layout layout;
  layout.append({16, 100, count, 160});
  return layout;
}

/// Out through one ring and back in from it, a few chunks under way at a time.
void pass(const BufferView& source, const BufferView& destination) {
  const std::size_t payload_bytes = source.layout.bytes();
  std::unique_ptr<ChunkCopies> out;
  std::unique_ptr<ChunkCopies> in;
  ASSERT_TRUE(ChunkCopies::start(source, Way::out, out).ok());
  ASSERT_TRUE(ChunkCopies::start(destination, Way::in, in).ok());
  std::vector<char> memory(payload_bytes);
  const std::vector<std::size_t> chunks = chunks_of(payload_bytes);
  std::size_t offset = 0;
  for (const std::size_t chunk : chunks) {
    ASSERT_TRUE(out->copy(memory.data() + offset, chunk).ok());
    offset += chunk;
  }
  std::size_t arrived = 0;
  std::size_t placed = 0;
  for (offset = 0; placed < chunks.size(); std::this_thread::yield()) {
    std::size_t ended = 0;
    ASSERT_TRUE(out->advance(ended).ok());
    for (; ended > 0; --ended) {
      ASSERT_TRUE(in->copy(memory.data() + offset, chunks[arrived]).ok());
      offset += chunks[arrived++];
    }
    ASSERT_TRUE(in->advance(ended).ok());
    placed += ended;
  }
  EXPECT_EQ(placed, arrived);
}

TEST(ChunkCopy, brings_every_kind_of_memory_out_and_back_in) {
  for (const BufferKind kind : buffer_kinds) {
    for (const Layout& layout :
         {Layout::contiguous(1000, 24), Layout::contiguous(3 * mib + 7), rows_of_100_bytes(20'000)}) {
      SCOPED_TRACE(testing::Message() << name_of(kind) << ", " << layout.bytes() << " bytes");
      constexpr std::size_t extent = 4 * mib;
      const GpuMemory source(kind, extent);
      const GpuMemory destination(kind, extent);
      fill(source, layout, layout.bytes(), 5);
      fill(destination, {}, 0, 0);
      pass({inspect(source.data()), layout}, {inspect(destination.data()), layout});
      EXPECT_EQ(first_difference(destination, layout, layout.bytes(), 5), -1);
    }
  }
}

}  // namespace
}  // namespace penstock::transports::test
