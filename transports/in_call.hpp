// What follows from a program's only thread being inside an MPI call: it queues no work on a GPU, and waits
// for none. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstdint>

namespace penstock::transports {

/// The MPI library was initialised for one thread (MPI_THREAD_SINGLE).
void set_single_threaded(bool single_threaded) noexcept;

/// While it lives, the thread that made it is inside an MPI call. May be nested. Thread: the calling one.
/// Cost: two clock readings a call if there is one thread, else next to nothing.
class InCall {
 public:
  /// `counts`: false while nobody uses a GPU: then nothing is noted.
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

/// Of the stretch of calls that this thread is in, never used again; 0 outside, and while nobody uses a GPU.
/// A stretch is one call; of the program's only thread, calls that follow each other so closely that it can
/// have done nothing to a GPU between them. What was found out about the application's memory and contexts
/// holds within it.
[[nodiscard]] std::uint64_t number_of_stretch() noexcept;
/// When the call that this thread is in began, if that was noted; else now. Steady clock, ns.
[[nodiscard]] std::uint64_t begin_of_call_ns() noexcept;

/// Of the program's only thread; false and 0 if there are more. Thread: any.
[[nodiscard]] bool caller_is_inside() noexcept;
/// How often it has stayed outside of calls for long enough to queue work on a GPU, or to free its memory:
/// that takes its caller more than a µs (H200 host: a copy 1.4 µs, a kernel 2.6, cuMemFree 2.0), and is
/// done between two calls or not at all.
[[nodiscard]] std::uint64_t absences_of_caller() noexcept;
inline constexpr std::uint64_t fastest_launch_ns = 800;

/// Bits of a word by which somebody else, like a kernel, sees whether the program's only thread is in a call.
struct CallSign {
  std::atomic<std::uint64_t>* word;
  std::uint64_t inside;   ///< set while it is
  std::uint64_t changed;  ///< flipped when a call begins
};
/// From now on, instead of what was given before, whose `inside` is cleared. Nothing happens if the program
/// has several threads, or on another thread than its own, or outside of calls. The word must live to the end
/// of the process.
void show_calls(const CallSign& sign) noexcept;

/// Steady clock, ns.
[[nodiscard]] std::uint64_t steady_now_ns() noexcept;

}  // namespace penstock::transports
