// Decides whether a payload may now be copied to the device by a copy that its caller waits for. Under the
// table's lock no thread may wait for the application's kernels too, as the calls of all other threads would
// wait with it. Knows neither messages nor CUDA.
#pragma once

#include <cstdint>

#include "interpose/node/policy.hpp"
#include "interpose/progress/request_table.hpp"
#include "transports/host/in_call.hpp"
#include "transports/stream_order/readiness.hpp"

namespace penstock::interpose {

/// The wait of one payload. Thread: one at a time.
class StreamOrderWait {
 public:
  /// Returns true once `ask()` finds no earlier GPU work left; at once where no other thread can be kept
  /// waiting. The wait is bounded: a stream that is kept busy is never seen idle, but a copy gets its turn
  /// there.
  template <typename Ask>
  [[nodiscard]] bool is_over(Ask ask) {
    if (!request_table().is_threaded() || ask()) return true;
    const std::uint64_t now_ns = transports::steady_now_ns();
    if (since_ns_ == 0) since_ns_ = now_ns;
    return now_ns - since_ns_ > policy::stream_order_limit_ns;
  }

 private:
  std::uint64_t since_ns_ = 0;
};

}  // namespace penstock::interpose
