#include "transports/watched_arrival.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <vector>

namespace penstock::transports::test {
namespace {

/// Memory as the GPU's copies find it: aligned to a page.
struct alignas(4096) Page {
  char bytes[WatchedArrival::most_bytes];
};

std::vector<char> random_payload(std::size_t bytes) {
  std::mt19937 random(static_cast<unsigned>(bytes));
  std::vector<char> payload(bytes);
  for (char& byte : payload) byte = static_cast<char>(random());
  return payload;
}

TEST(WatchedArrival, is_seen_once_every_byte_is_there) {
  Page page{};
  for (const std::size_t bytes : {1u, 7u, 8u, 31u, 32u, 33u, 64u, 100u, 1024u, 4095u, 4096u}) {
    const std::vector<char> payload = random_payload(bytes);
    const WatchedArrival arrival(page.bytes, bytes);
    EXPECT_FALSE(arrival.is_seen_soon()) << bytes;
    std::memcpy(page.bytes, payload.data(), bytes);
    EXPECT_TRUE(arrival.is_seen_soon()) << bytes;
  }
}

TEST(WatchedArrival, is_not_seen_while_a_piece_is_missing_wherever_it_is) {
  constexpr std::size_t bytes = 300;
  constexpr std::size_t piece_bytes = 32;
  Page page{};
  const std::vector<char> payload = random_payload(bytes);
  for (std::size_t missing = 0; missing < bytes; missing += piece_bytes) {
    const WatchedArrival arrival(page.bytes, bytes);
    for (std::size_t piece = 0; piece < bytes; piece += piece_bytes) {
      if (piece != missing)
        std::memcpy(page.bytes + piece, &payload[piece], std::min(piece_bytes, bytes - piece));
    }
    EXPECT_FALSE(arrival.is_seen_soon()) << missing;
  }
}

TEST(WatchedArrival, of_bytes_that_equal_the_marks_is_left_to_the_driver) {
  Page page{};
  const WatchedArrival first(page.bytes, 64);
  Page marks = page;
  const WatchedArrival arrival(page.bytes, 64);
  std::memcpy(page.bytes, marks.bytes, 64);
  EXPECT_FALSE(arrival.is_seen_soon());
}

TEST(WatchedArrival, suits_small_layouts_in_one_piece) {
  EXPECT_TRUE(WatchedArrival::suits(Layout::contiguous(4096)));
  EXPECT_FALSE(WatchedArrival::suits(Layout::contiguous(4097)));
  Layout strided;
  strided.append({.offset = 0, .bytes = 8, .count = 4, .stride = 16});
  EXPECT_FALSE(WatchedArrival::suits(strided));
}

}  // namespace
}  // namespace penstock::transports::test
