// Records that are written delta-coded come back bit for bit, and of what a killed job or damage left nothing
// is made up.
#include "interpose/record/delta_coding.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

namespace penstock::trace {
namespace {

using Record = std::array<std::byte, record_bytes>;
using Found = DeltaReader::Found;
constexpr std::size_t room_for_one = most_delta_bytes + sizeof(std::uint32_t);

/// Some are like an earlier one, but for a few bytes; some are like none.
std::vector<Record> random_records(std::uint32_t seed, std::size_t count) {
  std::mt19937 random(seed);
  std::vector<Record> records(count);
  for (std::size_t i = 0; i < count; ++i) {
    Record& record = records[i];
    const bool is_new = i == 0 || random() % 10 == 0;
    if (!is_new) record = records[i - 1 - random() % std::min<std::size_t>(i, 9)];
    for (std::size_t changes = is_new ? 200 : random() % 8; changes > 0; --changes)
      record[random() % record.size()] = static_cast<std::byte>(random());
    record.back() = static_cast<std::byte>(1 + random() % 18);
  }
  return records;
}

struct Coded {
  std::vector<std::byte> bytes;
  std::vector<std::size_t> begins;  ///< of the records
  std::size_t end = 0;
};

Coded coded(const std::vector<Record>& records) {
  Coded all;
  all.bytes.assign(records.size() * most_delta_bytes + room_for_one, std::byte{0});
  DeltaWriter writer;
  std::byte* next = all.bytes.data();
  for (const Record& record : records) {
    all.begins.push_back(static_cast<std::size_t>(next - all.bytes.data()));
    next = writer.write(record.data(), next);
  }
  all.end = static_cast<std::size_t>(next - all.bytes.data());
  return all;
}

TEST(DeltaCoding, gives_any_records_back_bit_for_bit) {
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    const std::vector<Record> records = random_records(seed, 2000);
    const Coded all = coded(records);
    DeltaReader reader;
    const std::byte* at = all.bytes.data();
    for (const Record& record : records) {
      ASSERT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::record);
      ASSERT_EQ(std::memcmp(reader.record(), record.data(), record.size()), 0);
    }
    EXPECT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::end);
    EXPECT_EQ(at, all.bytes.data() + all.end);
  }
}

TEST(DeltaCoding, takes_a_word_for_a_record_that_was_there_before_and_never_more_than_it_says) {
  Record record{};
  record.back() = std::byte{5};
  Coded all = coded({record, record});
  EXPECT_EQ(all.end - all.begins[1], sizeof(DeltaHead));
  for (std::size_t i = 0; i + 1 < record.size(); ++i) record[i] = static_cast<std::byte>(i + 1);
  EXPECT_EQ(coded({record}).end, most_delta_bytes);
}

TEST(DeltaCoding, of_a_writer_that_was_killed_gives_what_was_committed) {
  const std::vector<Record> records = random_records(1, 50);
  for (std::size_t killed_in = 0; killed_in < records.size(); ++killed_in) {
    Coded all = coded({records.begin(), records.begin() + static_cast<std::ptrdiff_t>(killed_in) + 1});
    std::memset(all.bytes.data() + all.begins.back(), 0, sizeof(DeltaHead));  // was to be written next
    DeltaReader reader;
    const std::byte* at = all.bytes.data();
    for (std::size_t i = 0; i < killed_in; ++i)
      ASSERT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::record);
    EXPECT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::end);
  }
}

TEST(DeltaCoding, says_where_a_record_is_cut_off) {
  const std::vector<Record> records = random_records(2, 20);
  const Coded all = coded(records);
  for (std::size_t size = 0; size < all.end; ++size) {
    DeltaReader reader;
    const std::byte* at = all.bytes.data();
    std::size_t whole = 0;
    Found found = Found::record;
    while ((found = reader.read(at, all.bytes.data() + size)) == Found::record) ++whole;
    EXPECT_EQ(found, Found::cut_off);
    EXPECT_EQ(all.begins[whole], static_cast<std::size_t>(at - all.bytes.data()));
    EXPECT_TRUE(whole + 1 == all.begins.size() || size < all.begins[whole + 1]);
  }
}

TEST(DeltaCoding, knows_two_kinds_in_one_record_for_damage) {
  Coded all = coded(random_records(3, 2));
  all.bytes[all.begins[1] + offsetof(DeltaHead, kind)] ^= std::byte{0x40};
  DeltaReader reader;
  const std::byte* at = all.bytes.data();
  EXPECT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::record);
  EXPECT_EQ(reader.read(at, all.bytes.data() + all.bytes.size()), Found::damage);
}

TEST(DeltaCoding, of_random_bytes_reads_nothing_outside_of_them) {
  std::mt19937 random(4);
  for (int round = 0; round < 2000; ++round) {
    std::vector<std::byte> bytes(random() % 400);  // so that a sanitizer sees their end
    for (std::byte& each : bytes) each = static_cast<std::byte>(random() % (random() % 2 == 0 ? 256 : 20));
    DeltaReader reader;
    const std::byte* at = bytes.data();
    while (reader.read(at, bytes.data() + bytes.size()) == Found::record) {
    }
    EXPECT_LE(at, bytes.data() + bytes.size());
  }
}

}  // namespace
}  // namespace penstock::trace
