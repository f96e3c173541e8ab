// The work that an application had queued at one moment, for those who must not wait for it in place. A
// stream that is kept busy is never seen idle, but it comes to the end of what it had then. Knows nothing of
// MPI.
#pragma once

#include <vector>

#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Thread: one at a time.
class EarlierWork {
 public:
  /// Returns true once the work is done that was queued on the view's devices when it was handed over. A copy
  /// of such a view then does not wait. Pass the same view each time. Never blocks, except in order `device`.
  /// Cost: a query, or two while a device is busy.
  [[nodiscard]] bool is_done(const BufferView& view) noexcept;

 private:
  /// One for each device, behind that work, since it was first seen to be under way; none: it was not, or
  /// could not be marked.
  std::vector<cuda::Event> marks_;
};

}  // namespace penstock::transports
