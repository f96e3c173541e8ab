#include "transports/host/callers_mutex.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock::transports {
namespace {

constexpr int rounds = 20'000;

/// Puts back what other tests in the process count on.
class CallersMutexTest : public testing::Test {
 protected:
  ~CallersMutexTest() override { set_callers_take_turns(false); }
};

TEST_F(CallersMutexTest, keeps_threads_apart) {
  CallersMutex mutex;
  int count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::lock_guard lock(mutex);
        ++count;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 3 * rounds);
}

TEST_F(CallersMutexTest, lets_everybody_in_where_callers_take_turns) {
  set_callers_take_turns(true);
  CallersMutex mutex;
  const std::lock_guard outer(mutex);
  std::thread([&] { const std::lock_guard inner(mutex); }).join();
}

TEST_F(CallersMutexTest, keeps_threads_apart_again_when_they_take_turns_no_more) {
  CallersMutex mutex;
  set_callers_take_turns(true);
  {
    const std::lock_guard lock(mutex);
    set_callers_take_turns(false);
  }
  std::unique_lock lock(mutex);
  std::atomic<bool> is_there{false};
  std::atomic<bool> came_in{false};
  std::thread other([&] {
    is_there = true;
    const std::lock_guard inner(mutex);
    came_in = true;
  });
  while (!is_there) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(50));  // for it to come in, if nothing held it up
  EXPECT_FALSE(came_in);
  lock.unlock();
  other.join();
  EXPECT_TRUE(came_in);
}

}  // namespace
}  // namespace penstock::transports
