// The turns of the application and of the thread that steps pending work while the application computes: only
// one of them is inside Penstock and the MPI library. No other code therefore has to know of that thread.
// Only for applications whose own threads do not meet there either. Knows nothing of what a turn does.
#pragma once

#include <atomic>
#include <shared_mutex>

#include "interpose/node/policy.hpp"
#include "transports/host/try_for_a_while.hpp"

namespace penstock::interpose {

/// Thread: several of the application's, as any thread may call a few MPI functions (MPI_Initialized …).
class ProgressLock {
 public:
  /// Sets whether there is another thread: from MPI_Init until it ends.
  void share(bool shared) noexcept { shared_.store(shared, std::memory_order_relaxed); }

  /// For the application: waits for the other thread's step to end. Returns false if there is no other
  /// thread; then there is nothing to give back. Cost in that case: a relaxed load.
  [[nodiscard]] bool take() noexcept {
    if (!shared_.load(std::memory_order_relaxed)) [[likely]]
      return false;
    if (!transports::try_for_a_while(policy::lock_polls, [this] { return mutex_.try_lock_shared(); }))
      mutex_.lock_shared();
    return true;
  }
  void give() noexcept { mutex_.unlock_shared(); }

  /// For the other thread, which never waits for the application.
  [[nodiscard]] bool try_take_alone() noexcept { return mutex_.try_lock(); }
  void give_alone() noexcept { mutex_.unlock(); }

 private:
  std::atomic<bool> shared_{false};
  std::shared_mutex mutex_;
};

inline constinit ProgressLock progress_lock;

}  // namespace penstock::interpose
