// How long a sender waits for its receiver before it buffers the payload, on this node and on others. Knows
// no transport.
#pragma once

#include <algorithm>
#include <cstdint>

#include "interpose/node/policy.hpp"
#include "transports/tuning/tuning.hpp"

namespace penstock::interpose {

/// All times in ns, of the steady clock.
class ReceiverTimeout {
 public:
  /// A timeout that has not started.
  ReceiverTimeout() = default;
  /// Starts at `begun_ns`. `mpi_would_buffer`: the payload is so small that the MPI library would have
  /// buffered it.
  ReceiverTimeout(bool mpi_would_buffer, std::uint64_t begun_ns) noexcept
      : mpi_would_buffer_(mpi_would_buffer),
        begun_ns_(begun_ns),
        limit_ns_(mpi_would_buffer ? policy::small_receiver_timeout_ns
                                   : transports::tuning().receiver_timeout_us * 1000) {}

  void never_expire() noexcept { limit_ns_ = no_limit_ns; }

  /// Returns true if the timeout is over. A receiver that worked on other messages at `worked_ns` gets more
  /// time, but may never reach this one. If the MPI library would have buffered the payload, the extra time
  /// is therefore bounded. Otherwise the sender would wait there too, and waits as long as the receiver
  /// works: once the receive is posted, it is served.
  [[nodiscard]] bool is_over(std::uint64_t now_ns, std::uint64_t worked_ns) const noexcept {
    const auto passed_since = [&](std::uint64_t time_ns) { return now_ns - std::min(now_ns, time_ns); };
    return passed_since(std::max(begun_ns_, worked_ns)) > limit_ns_ ||
           (mpi_would_buffer_ && passed_since(begun_ns_) > limit_ns_ * policy::busy_receiver_factor);
  }

 private:
  static constexpr std::uint64_t no_limit_ns = UINT64_MAX / 64;  // some centuries, even times the busy factor

  bool mpi_would_buffer_ = false;
  std::uint64_t begun_ns_ = 0;
  std::uint64_t limit_ns_ = 0;
};

}  // namespace penstock::interpose
