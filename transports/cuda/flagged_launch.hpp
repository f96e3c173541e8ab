// A launch of one of Penstock's kernels that raises a completion flag when it is done, and how to wait for
// it. Knows no kernel.
#pragma once

#include "transports/cuda/completion_flag.hpp"
#include "transports/host/watch.hpp"

namespace penstock::transports::cuda {

/// A token for one launch at a time, reusable. Owns a completion flag from the first launch on. The
/// destructor waits for the launch. Thread: one at a time.
class FlaggedLaunch {
 public:
  /// `what` is a literal, for errors: "a copy kernel".
  explicit FlaggedLaunch(const char* what) noexcept : what_(what) {}
  FlaggedLaunch(FlaggedLaunch&& other) noexcept : what_(other.what_) { *this = std::move(other); }
  FlaggedLaunch& operator=(FlaggedLaunch&& other) noexcept;
  ~FlaggedLaunch() {
    if (in_flight_) static_cast<void>(wait());
  }

  /// Lowers the flag before a launch on a stream of the context, which is current. Errors: bad_argument while
  /// the last launch is not done; out_of_memory if all flags are in use.
  [[nodiscard]] Status prepare(const ContextRef& context, CUstream stream) noexcept;
  /// The flag that the kernel raises at its end; after prepare().
  [[nodiscard]] const CompletionFlag& flag() const noexcept { return flag_; }
  /// Notes that the kernel has been queued.
  void launched() noexcept { in_flight_ = true; }

  /// Cost: a load. A kernel that fails is never done: query() then returns the error.
  [[nodiscard]] bool done() const noexcept { return !in_flight_ || flag_.is_raised(); }
  /// The same, and checks every 100 µs whether the launch has failed (it, or work before it on the stream, or
  /// the context has been destroyed); `done` is then true beside the error. Cost: 20 ns, with the check 1.3
  /// µs.
  [[nodiscard]] Status query(bool& done) noexcept;
  /// Polls until the launch is done: spins a little, then yields the core.
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
