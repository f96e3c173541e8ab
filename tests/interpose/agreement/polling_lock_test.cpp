#include "interpose/progress/polling_lock.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>
#include <vector>

namespace penstock::interpose {
namespace {

TEST(PollingLock, keeps_threads_apart_though_each_takes_it_several_times) {
  PollingLock lock;
  constexpr int rounds = 10'000;
  int count = 0;
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&] {
      for (int round = 0; round < rounds; ++round) {
        const std::lock_guard outer(lock);
        const int before = count;
        {
          const std::lock_guard inner(lock);
          ++count;
        }
        count = before + 1;  // held still
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(count, 4 * rounds);
}

TEST(PollingLock, is_given_to_a_thread_that_sleeps_for_it) {
  PollingLock lock;
  std::atomic<bool> has_it{false};
  lock.lock();
  std::thread other([&] {
    const std::lock_guard mine(lock);
    has_it = true;
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  EXPECT_FALSE(has_it);
  lock.unlock();
  other.join();
  EXPECT_TRUE(has_it);
}

}  // namespace
}  // namespace penstock::interpose
