// Who may be in Penstock and the MPI library now: the application, or the thread that steps pending work
// while the application computes. As they never meet there, nothing else has to know of that thread. Only for
// applications whose own threads do not meet there either. Knows nothing of what is done in a turn.
#pragma once

#include <atomic>
#include <shared_mutex>

#include "interpose/node/policy.hpp"
#include "transports/host/processor_pause.hpp"

namespace penstock::interpose {

/// Thread: the application's may be several, as a few MPI functions (MPI_Initialized …) may be called by any.
class ProgressLock {
 public:
  /// Whether there is another thread: from MPI_Init on, and until it is gone.
  void share(bool shared) noexcept { shared_.store(shared, std::memory_order_relaxed); }

  /// The application's: waits for the other thread's step to end. False: there is nobody to take turns with,
  /// and nothing to give back. Cost then: a relaxed load.
  [[nodiscard]] bool take() noexcept {
    if (!shared_.load(std::memory_order_relaxed)) [[likely]]
      return false;
    for (unsigned poll = 0; poll < policy::progress_lock_polls; ++poll) {
      if (mutex_.try_lock_shared()) return true;
      transports::processor_pause();
    }
    mutex_.lock_shared();
    return true;
  }
  void give() noexcept { mutex_.unlock_shared(); }

  /// The other thread's, which never waits for the application.
  [[nodiscard]] bool try_take_alone() noexcept { return mutex_.try_lock(); }
  void give_alone() noexcept { mutex_.unlock(); }

 private:
  std::atomic<bool> shared_{false};
  std::shared_mutex mutex_;
};

inline constinit ProgressLock progress_lock;

}  // namespace penstock::interpose
