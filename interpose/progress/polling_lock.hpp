// A recursive lock for threads whose calls poll. Such calls follow one another so closely that a thread which
// sleeps for a std::recursive_mutex loses it again and again to one that is awake, and each message between
// two such threads then takes tens of µs. Knows nothing of what it guards.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

#include "interpose/node/policy.hpp"
#include "transports/host/processor_pause.hpp"
#include "transports/host/try_for_a_while.hpp"

namespace penstock::interpose {

/// A thread polls for some µs, which is longer than holders take, before it sleeps; a thread that comes while
/// another one polls lets that one go first. Where the process has two processors or fewer, it sleeps at
/// once, since its threads may be more. No order is promised: to wait for a thread that has no processor
/// takes milliseconds. Thread: any.
class PollingLock {
 public:
  PollingLock() = default;
  PollingLock(const PollingLock&) = delete;
  PollingLock& operator=(const PollingLock&) = delete;

  void lock() {
    if (holder_.load(std::memory_order_relaxed) == this_thread()) {
      ++depth_;
      return;
    }
    if (polling_.load(std::memory_order_relaxed) != 0) pause_for_others();
    if (!mutex_.try_lock()) poll();
    holder_.store(this_thread(), std::memory_order_relaxed);
  }

  void unlock() noexcept {
    if (depth_ > 0) {
      --depth_;
      return;
    }
    holder_.store(nullptr, std::memory_order_relaxed);
    mutex_.unlock();
  }

 private:
  static constexpr unsigned pauses_for_others = 20;  ///< of 10 to 40 ns
  const unsigned polls_before_sleeping_ = std::thread::hardware_concurrency() > 2 ? policy::lock_polls : 0;

  static void pause_for_others() noexcept {
    for (unsigned i = 0; i < pauses_for_others; ++i) transports::processor_pause();
  }

  void poll() {
    polling_.fetch_add(1, std::memory_order_relaxed);
    const bool is_locked =
        transports::try_for_a_while(polls_before_sleeping_, [this] { return mutex_.try_lock(); });
    polling_.fetch_sub(1, std::memory_order_relaxed);
    if (!is_locked) mutex_.lock();
  }

  [[nodiscard]] static const void* this_thread() noexcept {
    [[gnu::tls_model("initial-exec")]] static constinit thread_local char identity = 0;
    return &identity;
  }

  std::mutex mutex_;
  std::atomic<const void*> holder_{nullptr};
  std::atomic<unsigned> polling_{0};  ///< threads in poll()
  unsigned depth_ = 0;                ///< locks of the holder beyond the first
};

}  // namespace penstock::interpose
