// Many copies by one launch of a kernel. A copy call costs its caller microseconds however few bytes it
// moves; a batch costs one launch, and its end is seen in host memory without asking the driver. Knows
// neither messages nor transports; whoever uses it has the copy engine to fall back on.
#pragma once

#include <span>

#include "transports/copies/copy_kernels.hpp"
#include "transports/cuda/flagged_launch.hpp"

namespace penstock::transports {

/// A token for one batch at a time, to be used again and again. Owns: a completion flag, from the first
/// launch on; the memory copied is the caller's and must stay until done(). Goes only when its batch is done:
/// the destructor waits. Thread: one at a time. Errors: nothing has been copied if launch() fails, all of it
/// may have been (or part) if query() or wait() does.
class BatchedCopy {
 public:
  /// Queues the copies on a stream of the context, which is current (cuda::ContextScope). They may run in any
  /// order; where two write the same byte, either may win. Errors: as CopyKernels::launch();
  /// bad_argument while the last batch is not done; out_of_memory when all flags are in use; the driver's
  /// refusal. Cost: one driver call.
  [[nodiscard]] Status launch(const cuda::ContextRef& context, CUstream stream,
                              std::span<const CopyItem> items) noexcept;

  /// Has all been copied, seen from the host, too, where that is the destination? Also true before the first
  /// launch and after a failure. Cost: a load. A batch that fails is never done: ask query() then.
  [[nodiscard]] bool done() const noexcept { return launch_.done(); }
  /// As FlaggedLaunch's.
  [[nodiscard]] Status query(bool& done) noexcept { return launch_.query(done); }
  [[nodiscard]] Status wait() noexcept { return launch_.wait(); }

 private:
  cuda::FlaggedLaunch launch_{"a copy kernel that did not raise its flag"};
};

}  // namespace penstock::transports
