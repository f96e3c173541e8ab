// Flags that wait for an answer together, each with an event behind what the application had queued before it
// handed over the flag's place. Knows nothing of buffers.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

#include "transports/cuda/context.hpp"

namespace penstock::transports {

struct Mark {
  std::atomic<std::uint32_t>* flag = nullptr;
  std::uint64_t since_ns = 0;  ///< when the place was handed over
  cuda::Event event;
};

/// An error counts, too: nothing runs any more that could be waited for.
[[nodiscard]] bool is_reached(const Mark& mark) noexcept;

/// In the order in which they were recorded. That an event is reached costs a question (1.3 µs), that it is
/// not 0.2; and of one context the events are reached in order. An event is reached 1.5 µs after it was
/// recorded where nothing runs (H200). A thread of its own sets flags that have waited for long, as the
/// application may be away from MPI for ever. Thread: any.
class Marks {
 public:
  /// A load.
  [[nodiscard]] bool are_none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// Sets flags now and then. False: there is no room for it, or the thread cannot be started.
  [[nodiscard]] bool add(Mark&& mark) noexcept;
  /// Sets all flags but those of which `driver_will_signal` returns true. Takes up to 3 µs, and what that
  /// takes.
  void settle(bool (*driver_will_signal)(const Mark&) noexcept) noexcept;
  void forget(const std::atomic<std::uint32_t>* flag) noexcept;
  /// Ends the thread; with the next mark there is another.
  void end() noexcept;

 private:
  [[nodiscard]] std::size_t answer(std::size_t newest) noexcept;
  void drop(std::size_t first_ones) noexcept;
  [[nodiscard]] bool watch() noexcept;
  void look_after_overdue() noexcept;
  void answer_overdue() noexcept;

  std::mutex mutex_;
  std::atomic<std::size_t> count_{0};  ///< written under the mutex
  std::array<Mark, 16> marks_;
  std::thread watcher_;
  std::int64_t watched_process_ = 0;     ///< whose thread it is
  std::atomic<std::uint32_t> calls_{0};  ///< that woke it
  bool is_watcher_asleep_ = false;
  bool is_ending_ = false;
};

}  // namespace penstock::transports
