// Small payloads in flight that only this rank's steps complete, while another rank may wait for them. They
// are completed before the MPI call ends that has begun them. Knows no protocol.
#pragma once

#include <atomic>

namespace penstock::interpose {

/// One of them, from begin() to end() or the destructor. Thread: one at a time.
class SmallOne {
 public:
  SmallOne() = default;
  ~SmallOne() { end(); }
  SmallOne(const SmallOne&) = delete;
  SmallOne& operator=(const SmallOne&) = delete;
  void begin() noexcept;
  void end() noexcept;

 private:
  bool is_in_flight_ = false;
};

/// Returns their number.
[[nodiscard]] const std::atomic<unsigned>& small_ones_in_flight() noexcept;

/// Completes them. Bounded in time.
void finish_small_ones() noexcept;

}  // namespace penstock::interpose
