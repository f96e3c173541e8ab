// A launch of one of Penstock's kernels that says by a completion flag when it is done, and how to wait for
// it. Knows no kernel.
#pragma once

#include "transports/cuda/completion_flag.hpp"
#include "transports/host/watch.hpp"

namespace penstock::transports::cuda {

/// A token for one launch at a time, to be used again and again. Owns: a completion flag, from the first
/// launch on. Goes only when its launch is done: the destructor waits. Thread: one at a time.
class FlaggedLaunch {
 public:
  /// `what` is a literal, for errors: "a copy kernel".
  explicit FlaggedLaunch(const char* what) noexcept : what_(what) {}
  FlaggedLaunch(FlaggedLaunch&& other) noexcept : what_(other.what_) { *this = std::move(other); }
  FlaggedLaunch& operator=(FlaggedLaunch&& other) noexcept;
  ~FlaggedLaunch() {
    if (in_flight_) static_cast<void>(wait());
  }

  /// Before a launch on a stream of the context, which is current: the flag is lowered. Errors: bad_argument
  /// while the last launch is not done; out_of_memory when all flags are in use.
  [[nodiscard]] Status prepare(const ContextRef& context, CUstream stream) noexcept;
  /// What the kernel raises at its end; after prepare().
  [[nodiscard]] const CompletionFlag& flag() const noexcept { return flag_; }
  /// The kernel has been queued.
  void launched() noexcept { in_flight_ = true; }

  /// Cost: a load. A kernel that fails is never done: ask query() then.
  [[nodiscard]] bool done() const noexcept { return !in_flight_ || flag_.is_raised(); }
  /// The same, and looks every 100 µs whether the launch has failed (it, or work before it on the stream, or
  /// the context has been destroyed); then `done` is true beside the error. Cost: 20 ns, with the look 1.3
  /// µs.
  [[nodiscard]] Status query(bool& done) noexcept;
  /// Polls until then: spins a little, then yields the core.
  [[nodiscard]] Status wait() noexcept;

 private:
  [[nodiscard]] Status look_for_failure(bool& done) noexcept;

  const char* what_;
  CompletionFlag flag_;
  CUstream stream_ = nullptr;
  Watch failure_watch_{std::chrono::microseconds(100)};
  bool in_flight_ = false;
};

}  // namespace penstock::transports::cuda
