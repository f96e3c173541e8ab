// The work that an application had queued at one moment, for those who must not wait for it in place. A
// stream that is kept busy is never seen idle, but it comes to the end of what it had then. Knows nothing of
// MPI.
#pragma once

#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Thread: one at a time.
class EarlierWork {
 public:
  /// Returns true once the work is done that was queued on the view's device when it was handed over. A copy
  /// of such a view then does not wait. Pass the same view each time; it lies in one allocation. Never
  /// blocks, except in order `device`. Cost: a query.
  [[nodiscard]] bool is_done(const BufferView& view) noexcept;

 private:
  void mark(const BufferView& view) noexcept;

  cuda::Event mark_;  ///< behind that work, since it was first seen to be under way
  bool is_marked_ = false;
};

}  // namespace penstock::transports
