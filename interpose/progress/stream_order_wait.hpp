// Decides whether a payload may now be copied to or from the device by a copy that its caller waits for. No
// call waits there for the application's kernels: they may end only after this thread has returned to the
// program, or, under the table's lock, after another thread has. Knows neither messages nor CUDA.
#pragma once

#include "transports/host/in_call.hpp"
#include "transports/stream_order/earlier_work.hpp"

namespace penstock::interpose {

/// The wait of one payload. Thread: one at a time.
class StreamOrderWait {
 public:
  /// Returns true once `ask()` finds no earlier GPU work left, or the work is done that was queued at
  /// time_of_call_ns(): a stream that is kept busy is never seen idle. The first call is best made within
  /// that MPI call, so that later work is not waited for.
  template <typename Ask>
  [[nodiscard]] bool is_over(Ask ask) {
    return ask() || earlier_.is_done_everywhere(transports::time_of_call_ns());
  }

 private:
  transports::EarlierWork earlier_;
};

}  // namespace penstock::interpose
