// The thread that keeps blocks ready, among threads that take them.
#include "interpose/record/file/block_supply.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <deque>
#include <thread>
#include <vector>

#include "child_process.hpp"

namespace penstock {
namespace {

constexpr std::uint64_t limit_bytes = 4 * trace::block_bytes;

TEST(BlockSupply, stops_while_threads_take_blocks) {
  const test::TemporaryFolder folder;
  record::RecordingFile file;
  ASSERT_EQ(file.create((folder.path() / "recording").c_str(), limit_bytes), 0);
  record::RetiredBlocks retired(file);
  std::atomic<bool> are_over{false};
  std::deque<record::BlockSupply> supplies;  // all live until the threads end
  std::atomic<record::BlockSupply*> current{&supplies.emplace_back(file, retired)};
  std::vector<std::jthread> threads;
  for (int i = 0; i < 3; ++i) {
    threads.emplace_back([&] {
      while (!are_over.load()) static_cast<void>(current.load()->take());
    });
  }
  for (int round = 0; round < 2000; ++round) {
    record::BlockSupply& supply = supplies.emplace_back(file, retired);
    supply.start();
    current = &supply;
    supply.stop();
  }
  are_over = true;
}

}  // namespace
}  // namespace penstock
