#include "transports/device_memory/parts.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "tests/transports/busy_stream.hpp"
#include "tests/transports/gpu_memory.hpp"
#include "transports/copy_selection/blocking_copy.hpp"
#include "transports/small/joint_uploads.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::transports::test {
namespace {

using Bytes = std::vector<std::uint8_t>;

/// A piece of a message: `bytes` that begin at `offset` of an allocation.
struct Piece {
  const GpuMemory& memory;
  std::size_t offset;
  std::size_t bytes;
};

/// The addresses are absolute, as of MPI_BOTTOM, but for the first byte's.
BufferView place_of(const std::vector<Piece>& pieces) {
  const auto address = [](const Piece& piece) {
    return reinterpret_cast<std::intptr_t>(piece.memory.data()) + static_cast<std::intptr_t>(piece.offset);
  };
  const std::intptr_t first = address(pieces.front());
  BufferView place{.buffer = inspect(reinterpret_cast<void*>(first))};
  for (const Piece& piece : pieces)
    place.layout.append({.offset = address(piece) - first, .bytes = piece.bytes});
  find_parts(place);
  return place;
}

Bytes message(std::size_t bytes) {
  Bytes content(bytes);
  for (std::size_t i = 0; i < bytes; ++i) content[i] = payload_byte(9, i);
  return content;
}

/// Copies the first `bytes` of `content` to the pieces, one after the other.
void put(const std::vector<Piece>& pieces, const Bytes& content, std::size_t bytes) {
  std::size_t done = 0;
  for (const Piece& piece : pieces) {
    Bytes all = piece.memory.read();
    for (std::size_t i = 0; i < piece.bytes && done < bytes; ++i) all[piece.offset + i] = content[done++];
    piece.memory.write(all);
  }
}

class Parts : public testing::Test {
 protected:
  void SetUp() override { use_device(0); }
};

TEST_F(Parts, there_are_none_within_one_allocation) {
  for (const BufferKind kind : buffer_kinds) {
    const GpuMemory memory(kind, 3u << 20);
    const BufferView place =
        place_of({{memory, 0, 100}, {memory, 200, 100}, {memory, (3u << 20) - 100, 100}});
    EXPECT_FALSE(place.is_scattered()) << name_of(kind);
    EXPECT_EQ(place.buffer.kind, kind);
    EXPECT_EQ(reaches_device(place.buffer.pointer, place.layout), lives_on_device(kind)) << name_of(kind);
  }
}

TEST_F(Parts, there_is_one_for_each_allocation_and_one_for_host_memory) {
  const GpuMemory host(BufferKind::pageable, 1000);
  const GpuMemory pinned(BufferKind::pinned, 1000);
  const GpuMemory first(BufferKind::device, 1000);
  const GpuMemory second(BufferKind::device, 1000);
  const BufferView place =
      place_of({{host, 0, 10}, {first, 0, 20}, {second, 5, 30}, {pinned, 0, 40}, {first, 100, 50}});
  ASSERT_TRUE(place.is_scattered());
  EXPECT_TRUE(reaches_device(place.buffer.pointer, place.layout));
  EXPECT_EQ(place.buffer.kind, BufferKind::device);
  EXPECT_EQ(place.buffer.pointer, host.data());
  ASSERT_EQ(place.parts->size(), 3u);
  const ViewPart& of_host = (*place.parts)[0];
  EXPECT_EQ(of_host.view.layout.bytes(), 50u);
  const ViewPart& of_first = (*place.parts)[1];
  EXPECT_EQ(of_first.view.buffer.pointer, first.data());
  EXPECT_EQ(of_first.view.layout.bytes(), 70u);
  ASSERT_EQ(of_first.packed.blocks().size(), 2u);
  EXPECT_EQ(of_first.packed.blocks()[0], (Block{10, 20, 1, 0}));
  EXPECT_EQ(of_first.packed.blocks()[1], (Block{100, 50, 1, 0}));
  EXPECT_EQ((*place.parts)[2].view.layout.bytes(), 30u);
}

TEST_F(Parts, are_told_apart_where_allocations_touch) {
  // as large as the driver's own blocks, so that they may lie one behind the other
  constexpr std::size_t bytes = 4u << 20;
  std::vector<std::unique_ptr<GpuMemory>> all;
  for (int i = 0; i < 6; ++i) all.push_back(std::make_unique<GpuMemory>(BufferKind::device, bytes));
  for (const auto& one : all) {
    for (const auto& other : all) {
      if (one == other) continue;
      const BufferView place = place_of({{*one, bytes - 100, 100}, {*other, 0, 100}});
      ASSERT_TRUE(place.is_scattered());
      EXPECT_EQ(place.parts->size(), 2u);
      EXPECT_FALSE(suits_a_joint_upload(place));
    }
  }
}

TEST_F(Parts, of_equal_blocks_at_equal_distances_are_found_within_one_strided_block) {
  std::vector<std::unique_ptr<GpuMemory>> all;
  for (int i = 0; i < 3; ++i) all.push_back(std::make_unique<GpuMemory>(BufferKind::device, 512));
  std::vector<Piece> pieces;
  for (const auto& one : all) pieces.push_back({*one, 0, 8});
  const BufferView place = place_of(pieces);
  ASSERT_TRUE(place.is_scattered());
  EXPECT_EQ(place.parts->size(), 3u);
}

TEST_F(Parts, of_memory_that_was_freed_make_the_place_unknown) {
  const GpuMemory host(BufferKind::pageable, 100);
  auto freed = std::make_unique<GpuMemory>(BufferKind::device, 8u << 20);
  const std::vector<Piece> pieces = {{host, 0, 10}, {*freed, 0, 10}};
  const auto distance =
      reinterpret_cast<std::intptr_t>(freed->data()) - reinterpret_cast<std::intptr_t>(host.data());
  freed.reset();
  BufferView place{.buffer = inspect(host.data())};
  place.layout.append({.offset = 0, .bytes = 10});
  place.layout.append({.offset = distance, .bytes = 10});
  find_parts(place);
  EXPECT_EQ(place.buffer.kind, BufferKind::unknown);
  Bytes bytes(20);
  EXPECT_FALSE(download(bytes.data(), place).ok());
}

TEST_F(Parts, of_any_kinds_are_downloaded_and_uploaded_as_far_as_the_message_goes) {
  for (const BufferKind one : buffer_kinds) {
    for (const BufferKind other : buffer_kinds) {
      for (const std::size_t unit : {1u, 50u, 30'000u}) {
        SCOPED_TRACE(testing::Message() << name_of(one) << ", " << name_of(other) << ", " << unit);
        const GpuMemory first(one, 5 * unit);
        const GpuMemory second(other, 5 * unit);
        const std::vector<Piece> pieces = {
            {first, 0, unit}, {second, unit, 2 * unit}, {first, 2 * unit, unit}, {second, 4 * unit, unit}};
        const std::size_t all = 5 * unit;
        for (const std::size_t bytes : {all, all - 1, 2 * unit, unit, std::size_t{1}}) {
          const Bytes content = message(all);
          first.write(Bytes(5 * unit, guard_byte));
          second.write(Bytes(5 * unit, guard_byte));
          put(pieces, content, bytes);
          const Bytes expected_first = first.read();
          const Bytes expected_second = second.read();
          BufferView place = place_of(pieces);
          place.layout = place.layout.prefix(bytes);
          Bytes host(bytes + 16, guard_byte);
          ASSERT_TRUE(download(host.data(), place).ok());
          Bytes expected = content;
          expected.resize(bytes);
          expected.resize(bytes + 16, guard_byte);
          EXPECT_TRUE(host == expected) << bytes << " bytes";

          first.write(Bytes(5 * unit, guard_byte));
          second.write(Bytes(5 * unit, guard_byte));
          ASSERT_TRUE(upload(place, content.data()).ok());
          EXPECT_TRUE(first.read() == expected_first) << bytes << " bytes";
          EXPECT_TRUE(second.read() == expected_second) << bytes << " bytes";
        }
      }
    }
  }
}

TEST_F(Parts, on_a_busy_GPU_keep_the_place_from_being_idle) {
  if (device_count() < 2) GTEST_SKIP() << "one GPU";
  const GpuMemory first(BufferKind::device, 100, 0);
  const GpuMemory second(BufferKind::device, 100, 1);
  const BufferView place = place_of({{first, 0, 100}, {second, 0, 100}});
  EXPECT_TRUE(is_idle(place));
  for (const int busy : {0, 1}) {
    use_device(busy);
    {
      const BusyStream stream(CU_STREAM_LEGACY);
      EXPECT_FALSE(is_idle(place)) << "device " << busy;
    }
    EXPECT_TRUE(is_idle(place));
  }
}

}  // namespace
}  // namespace penstock::transports::test
