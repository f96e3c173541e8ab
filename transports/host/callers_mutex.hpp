// A mutex around what the program's threads share when they call MPI. If the program has promised the MPI
// library that they call one at a time, locking would cost each small message several per cent. Knows no MPI.
#pragma once

#include <atomic>
#include <mutex>

namespace penstock::transports {

namespace detail {
inline constinit std::atomic<bool> callers_take_turns{false};
}  // namespace detail

/// Sets that every call into Penstock returns before the next begins, on whatever thread. To be called before
/// there are other threads.
inline void set_callers_take_turns(bool take_turns) noexcept {
  detail::callers_take_turns.store(take_turns, std::memory_order_relaxed);
}

[[nodiscard]] inline bool callers_take_turns() noexcept {
  return detail::callers_take_turns.load(std::memory_order_relaxed);
}

/// A std::mutex unless callers take turns; then it costs a load. Not for what Penstock's own threads touch.
class CallersMutex {
 public:
  void lock() {
    if (callers_take_turns()) [[likely]]
      return;
    mutex_.lock();
    is_locked_ = true;
  }
  void unlock() noexcept {
    if (!is_locked_) [[likely]]
      return;
    is_locked_ = false;
    mutex_.unlock();
  }

 private:
  std::mutex mutex_;
  bool is_locked_ = false;  ///< guarded by mutex_
};

}  // namespace penstock::transports
