// Makes many copies by one launch of a kernel. A copy call costs its caller microseconds however few bytes it
// moves; a batch costs one launch, and its end is seen in host memory without a driver call. Knows neither
// messages nor transports; its users have the copy engine to fall back on.
#pragma once

#include <span>

#include "transports/copies/copy_kernels.hpp"
#include "transports/cuda/flagged_launch.hpp"

namespace penstock::transports {

/// A token for one batch at a time, reusable. Owns a completion flag from the first launch on. The memory
/// copied is the caller's and must stay until done(). The destructor waits for the batch. Thread: one at a
/// time. Errors: if launch() fails, nothing has been copied; if query() or wait() fails, all or part of it
/// may have been.
class BatchedCopy {
 public:
  /// Queues the copies on a stream of the context, which is current (cuda::ContextScope). They may run in any
  /// order; if two write the same byte, either may win. Errors: as CopyKernels::launch(); bad_argument while
  /// the last batch is not done; out_of_memory when all flags are in use; the driver's refusal. Cost: one
  /// driver call.
  [[nodiscard]] Status launch(const cuda::ContextRef& context, CUstream stream,
                              std::span<const CopyItem> items) noexcept;

  /// True once all is copied and visible to the host if that is the destination. Also true before the first
  /// launch and after a failed one. Cost: a load. A batch that fails is never done: query() then returns the
  /// error.
  [[nodiscard]] bool done() const noexcept { return launch_.done(); }
  /// As FlaggedLaunch's.
  [[nodiscard]] Status query(bool& done) noexcept { return launch_.query(done); }
  [[nodiscard]] Status wait() noexcept { return launch_.wait(); }

 private:
  cuda::FlaggedLaunch launch_{"a copy kernel, which did not signal its end,"};
};

}  // namespace penstock::transports
