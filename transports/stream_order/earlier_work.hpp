// The work that an application had queued at one moment, for those who must not wait for it in place. A
// stream that is kept busy is never seen idle, but it comes to the end of what it had then. Knows nothing of
// MPI.
#pragma once

#include <cstdint>
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
  /// The same of all devices whose contexts were met so far, and of the work that was queued at `since_ns`
  /// (steady clock). Call it at that time, if possible: until the first call later work is counted, too.
  [[nodiscard]] bool is_done_everywhere(std::uint64_t since_ns) noexcept;

 private:
  template <typename Contexts>
  [[nodiscard]] bool has_ended_in(Contexts contexts, std::uint64_t since_ns) noexcept;

  /// One for each device, behind that work, since it was first seen to be under way; none: it was not, or
  /// could not be marked.
  std::vector<cuda::Event> marks_;
};

}  // namespace penstock::transports
