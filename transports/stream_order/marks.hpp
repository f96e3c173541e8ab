// Flags that are set together, each with an event recorded behind what the application had queued before it
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
  std::uint64_t since_ns = 0;  ///< when the view was handed over
  cuda::Event event;
};

/// True also after an error: then nothing runs any more that could be waited for.
[[nodiscard]] bool is_reached(const Mark& mark) noexcept;

/// Marks in the order in which they were recorded. A query costs 1.3 µs if the event is reached and 0.2 if
/// not; the events of one context are reached in order. On an idle GPU an event is reached 1.5 µs after it
/// was recorded (H200). A background thread sets flags that have waited for long, as the application may stay
/// away from MPI for ever. Thread: any.
class Marks {
 public:
  /// Cost: a load.
  [[nodiscard]] bool are_none() const noexcept { return count_.load(std::memory_order_relaxed) == 0; }
  /// Adds a mark and now and then sets flags. Returns false if there is no room, or the thread cannot be
  /// started.
  [[nodiscard]] bool add(Mark&& mark) noexcept;
  /// Sets all flags except those for which `driver_will_signal` returns true. Takes up to 3 µs, plus the time
  /// of that function.
  void settle(bool (*driver_will_signal)(const Mark&) noexcept) noexcept;
  void forget(const std::atomic<std::uint32_t>* flag) noexcept;
  /// Ends the thread; the next mark starts another.
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
  std::int64_t watched_process_ = 0;     ///< the process that started the thread
  std::atomic<std::uint32_t> calls_{0};  ///< that woke the thread
  bool is_watcher_asleep_ = false;
  bool is_ending_ = false;
};

}  // namespace penstock::transports
