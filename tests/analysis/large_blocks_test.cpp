// Large blocks of memory as this program gets them: linked with analysis/cli/large_blocks.cpp.
#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <new>
#include <random>
#include <thread>
#include <vector>

#include "tests/support/sanitizers.hpp"

namespace {

/// Blocks of sizes around all that are told apart, each full of its own number.
void fill_and_check(std::uint32_t seed) {
  struct Block {
    std::unique_ptr<std::byte[]> bytes;
    std::size_t size;
    std::byte number;
  };
  std::mt19937 random(seed);
  std::vector<Block> blocks;
  const auto is_whole = [](const Block& block) {
    // the ends are where a neighbour would begin
    return block.bytes[0] == block.number && block.bytes[block.size / 2] == block.number &&
           block.bytes[block.size - 1] == block.number;
  };
  for (int i = 0; i < 400; ++i) {
    if (blocks.size() > 20) {
      const std::size_t which = random() % blocks.size();
      ASSERT_TRUE(is_whole(blocks[which]));
      blocks.erase(blocks.begin() + static_cast<std::ptrdiff_t>(which));
    }
    const std::size_t power = 15 + random() % 7;
    const std::size_t size = (std::size_t{1} << power) + random() % (std::size_t{1} << power) + random() % 2;
    blocks.push_back({std::make_unique<std::byte[]>(size), size, static_cast<std::byte>(i)});
    std::memset(blocks.back().bytes.get(), i & 0xff, size);
  }
  for (const Block& each : blocks) {
    ASSERT_TRUE(is_whole(each));
  }
}

TEST(LargeBlocks, hold_what_was_written_into_them_whatever_their_sizes) {
  fill_and_check(1);
}

TEST(LargeBlocks, are_given_to_several_threads_at_a_time) {
  std::vector<std::jthread> threads;
  for (std::uint32_t seed = 2; seed < 5; ++seed) {
    threads.emplace_back([seed] { fill_and_check(seed); });
  }
}

TEST(LargeBlocks, are_aligned_for_anything) {
  for (std::size_t size = 100'000; size < 400'000; size += 12'345) {
    const auto block = std::make_unique<std::byte[]>(size);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(block.get()) % alignof(std::max_align_t), 0u);
  }
}

TEST(LargeBlocks, above_all_that_are_kept_can_be_had_again) {
  for (int i = 0; i < 3; ++i) {
    std::vector<char> large(std::size_t{200} << 20, 'a');
    EXPECT_EQ(large.back(), 'a');
  }
}

TEST(LargeBlocks, are_kept_for_the_next_one_of_their_size) {
  if (penstock::test_support::built_with_a_sanitizer) {
    GTEST_SKIP() << "sanitizers have their own";
  }
  constexpr std::size_t size = 3'000'000;
  const void* const first = std::make_unique<std::byte[]>(size).get();
  const void* const second = std::make_unique<std::byte[]>(size).get();
  EXPECT_EQ(first, second);
}

TEST(LargeBlocks, that_nobody_could_give_throw) {
  if (penstock::test_support::built_with_a_sanitizer) {
    GTEST_SKIP() << "sanitizers end the program";
  }
  volatile std::size_t size = std::size_t{1} << 60;
  EXPECT_THROW(static_cast<void>(std::vector<char>(size)), std::bad_alloc);
}

}  // namespace
