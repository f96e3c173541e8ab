#include "transports/host/processor_copy.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

namespace penstock::transports {
namespace {

/// Both are tested everywhere: on a processor without its own set the two are one.
template <class Copy>
class Processor : public testing::Test {};
using Copies = testing::Types<PortableCopy, ProcessorCopy>;
TYPED_TEST_SUITE(Processor, Copies);

constexpr std::uint32_t words = PortableCopy::words_a_look;

TYPED_TEST(Processor, copies_a_line_from_any_alignment_and_touches_nothing_beside_it) {
  constexpr std::size_t line = TypeParam::line_bytes;
  std::vector<char> from(3 * line);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<char>(i * 7 + 1);
  for (std::size_t offset = 0; offset < line; ++offset) {
    alignas(line) std::array<char, 3 * line> to{};
    TypeParam::copy_line(to.data() + line, from.data() + offset);
    TypeParam::order_lines();
    EXPECT_EQ(std::memcmp(to.data() + line, from.data() + offset, line), 0) << offset;
    constexpr std::array<char, line> untouched{};
    EXPECT_EQ(std::memcmp(to.data(), untouched.data(), line), 0) << offset;
    EXPECT_EQ(std::memcmp(to.data() + 2 * line, untouched.data(), line), 0) << offset;
  }
}

TYPED_TEST(Processor, takes_the_lower_halves_of_words_that_all_bear_the_stamp) {
  for (const std::uint32_t stamp : {1u, 0x80000000u, 0xffffffffu}) {
    alignas(16) std::array<std::uint64_t, words> from{};
    for (std::uint32_t i = 0; i < words; ++i) from[i] = std::uint64_t{stamp} << 32 | (0xfedcba90u + i);
    std::array<char, 2 + 4 * words> to{};  // not aligned
    ASSERT_TRUE(TypeParam::take_words(from.data(), stamp, to.data() + 1));
    EXPECT_EQ(to.front(), 0);
    EXPECT_EQ(to.back(), 0);
    for (std::uint32_t i = 0; i < words; ++i) {
      std::uint32_t data = 0;
      std::memcpy(&data, to.data() + 1 + 4 * i, sizeof(data));
      EXPECT_EQ(data, 0xfedcba90u + i);
    }
  }
}

TYPED_TEST(Processor, takes_nothing_if_one_word_bears_another_stamp) {
  for (std::uint32_t other = 0; other < words; ++other) {
    for (const std::uint32_t its_stamp : {0u, 6u, 7u | 1u << 31}) {
      alignas(16) std::array<std::uint64_t, words> from{};
      from.fill(std::uint64_t{7} << 32 | 1);
      from[other] = std::uint64_t{its_stamp} << 32 | 7;
      std::array<char, 4 * words> to{};
      EXPECT_FALSE(TypeParam::take_words(from.data(), 7, to.data()));
      EXPECT_EQ(to, (std::array<char, 4 * words>{})) << "word " << other;
    }
  }
}

// Lines that went past the caches, then a flag: what the reader of the flag must find.
TYPED_TEST(Processor, lines_are_seen_before_a_flag_that_is_raised_behind_them) {
  constexpr std::size_t line = TypeParam::line_bytes;
  constexpr std::uint32_t rounds = 20'000;
  alignas(line) static std::array<char, 16 * line> lines;
  static std::atomic<std::uint32_t> raised;
  static std::atomic<std::uint32_t> seen;
  raised = seen = 0;
  std::thread writer([] {
    std::array<char, line> from;
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      while (seen.load(std::memory_order_acquire) != round - 1) std::this_thread::yield();
      from.fill(static_cast<char>(round));
      for (std::size_t at = 0; at < lines.size(); at += line)
        TypeParam::copy_line(lines.data() + at, from.data());
      TypeParam::order_lines();
      raised.store(round, std::memory_order_relaxed);  // order_lines() must be enough
    }
  });
  std::uint32_t stale = 0;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    while (raised.load(std::memory_order_acquire) != round) std::this_thread::yield();
    for (const char byte : lines) stale += byte != static_cast<char>(round);
    seen.store(round, std::memory_order_release);
  }
  writer.join();
  EXPECT_EQ(stale, 0u);
}

// A writer of single words, and a reader that looks at four at a time: no word may be torn.
TYPED_TEST(Processor, words_taken_while_they_are_written_are_whole) {
  constexpr std::uint32_t rounds = 50'000;
  alignas(16) static std::array<std::uint64_t, words> shared;
  static std::atomic<std::uint32_t> taken;
  shared.fill(0);
  taken = 0;
  std::thread writer([] {
    for (std::uint32_t round = 1; round <= rounds; ++round) {
      for (std::uint64_t& word : shared)
        std::atomic_ref(word).store(std::uint64_t{round} << 32 | ~round, std::memory_order_relaxed);
      while (taken.load(std::memory_order_acquire) != round) std::this_thread::yield();
    }
  });
  std::uint32_t torn = 0;
  for (std::uint32_t round = 1; round <= rounds; ++round) {
    std::array<std::uint32_t, words> data{};
    while (!TypeParam::take_words(shared.data(), round, reinterpret_cast<char*>(data.data()))) {
      std::this_thread::yield();
    }
    for (const std::uint32_t each : data) torn += each != ~round;
    taken.store(round, std::memory_order_release);
  }
  writer.join();
  EXPECT_EQ(torn, 0u);
}

}  // namespace
}  // namespace penstock::transports
