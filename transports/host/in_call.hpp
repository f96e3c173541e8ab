// Notes which MPI call a thread is in, and since when: the application does nothing else on that thread until
// the call returns. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::transports {

/// Sets whether the MPI library was initialised for one thread (MPI_THREAD_SINGLE).
void set_single_threaded(bool single_threaded) noexcept;

/// While it lives, the thread that made it is inside an MPI call. May be nested. Thread: the calling one.
/// Cost: some ns.
class InCall {
 public:
  /// `counts`: false while no GPU is in use and nothing is recorded: then nothing is noted.
  explicit InCall(bool counts = true) noexcept : counts_(counts) {
    if (counts_) [[unlikely]]
      enter();
  }
  ~InCall() {
    if (counts_) [[unlikely]]
      leave();
  }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;

 private:
  void enter() noexcept;
  void leave() noexcept;

  const bool counts_;
  bool is_outermost_ = false;
  bool is_the_only_thread_ = false;
};

/// Distinguishes the outermost MPI call that this thread is in from all its other calls; 0 outside of calls,
/// and while InCall does not count. The driver's answers about the call's own buffers and the application's
/// contexts hold within one call, and no longer: between two calls, however close, the application may free,
/// allocate or launch anything. If callers take turns (callers_mutex.hpp), the same holds for all its memory.
[[nodiscard]] std::uint64_t number_of_call() noexcept;
/// Returns a time within that call, the same throughout the call: what the application queued before the call
/// was queued before this time, what it queues later after it. Outside of calls: now. Steady clock, ns. Cost:
/// a clock reading, the first time in a call.
[[nodiscard]] std::uint64_t time_of_call_ns() noexcept;

/// Inside a call, at the ends of one that the program makes from a callback: what follows is another call's.
void begin_next_call() noexcept;

/// While it lives, this thread works for an earlier call: time_of_call_ns() is that call's.
class AsOfCall {
 public:
  explicit AsOfCall(std::uint64_t time_of_call_ns) noexcept;
  ~AsOfCall();
  AsOfCall(const AsOfCall&) = delete;
  AsOfCall& operator=(const AsOfCall&) = delete;

 private:
  const std::uint64_t before_ns_;
};

/// True if the program's only thread is inside an MPI call; false if there are more threads. Thread: any.
[[nodiscard]] bool caller_is_inside() noexcept;

/// Bits of a word by which an observer, such as a kernel, sees whether the program's only thread is in a
/// call.
struct CallSign {
  std::atomic<std::uint64_t>* word;
  std::uint64_t inside;   ///< set while the thread is in a call
  std::uint64_t changed;  ///< flipped when a call begins
};
/// Shows calls in that word from now on, instead of in the previous one, whose `inside` is cleared. Does
/// nothing if the program has several threads, on another thread than its own, or outside of calls. The word
/// must live to the end of the process.
void show_calls(const CallSign& sign) noexcept;

/// Steady clock, ns.
[[nodiscard]] std::uint64_t steady_now_ns() noexcept;

}  // namespace penstock::transports
