#include "interpose/windows/memory/region_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>

namespace penstock::interpose {
namespace {

MemberRecord record_of(std::uint64_t number) {
  MemberRecord record{};
  record.offer.address = record.offer.range_base = record.offer.bitmap_words = number;
  record.bytes = record.probe = number;
  return record;
}

bool is_whole(const MemberRecord& record) {
  const std::uint64_t number = record.bytes;
  return record.probe == number && record.offer.address == number && record.offer.range_base == number &&
         record.offer.bitmap_words == number;
}

class Regions : public testing::Test {
 protected:
  struct alignas(64) Line {
    std::byte bytes[64];
  };
  std::unique_ptr<Line[]> memory = std::make_unique<Line[]>(RegionTable::bytes() / sizeof(Line) + 1);
  RegionTable table{memory[0].bytes};
};

TEST_F(Regions, are_read_as_they_were_written) {
  EXPECT_EQ(table.rows(), 0U);
  const std::uint64_t version = table.version();
  table.write(3, record_of(7));
  EXPECT_NE(table.version(), version);
  EXPECT_EQ(table.rows(), 4U);
  MemberRecord record{};
  std::uint64_t generation = 0;
  ASSERT_TRUE(table.read(3, record, generation));
  EXPECT_TRUE(is_whole(record));
  EXPECT_EQ(record.bytes, 7U);
  EXPECT_EQ(table.generation(3), generation);
  table.write(3, record_of(8));
  EXPECT_NE(table.generation(3), generation);
  ASSERT_TRUE(table.read(2, record, generation));
  EXPECT_EQ(record.bytes, 0U) << "never written";
}

TEST_F(Regions, are_never_read_in_halves) {
  std::atomic<bool> is_over{false};
  std::thread writer([&] {
    for (std::uint64_t number = 1; !is_over.load(); ++number) table.write(number % 2, record_of(number));
  });
  while (table.version() == 0) std::this_thread::yield();
  for (int whole = 0; whole < 300'000;) {
    const std::uint64_t version = table.version();
    std::uint64_t newest = 0;
    bool are_there = true;
    for (std::size_t row = 0; row < 2; ++row) {
      MemberRecord record{};
      std::uint64_t generation = 0;
      are_there = table.read(row, record, generation) && are_there;
      if (!are_there) continue;
      ++whole;
      EXPECT_TRUE(is_whole(record));
      newest = std::max(newest, record.bytes);
    }
    if (!are_there) continue;
    EXPECT_GE(newest, version) << "older than the version that was read before";
  }
  is_over = true;
  writer.join();
}

}  // namespace
}  // namespace penstock::interpose
