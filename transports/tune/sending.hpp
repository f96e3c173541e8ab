// The sender's half of one payload of a measurement: what a rank's send does, without MPI.
#pragma once

#include <memory>

#include "transports/ipc/push_send.hpp"
#include "transports/staged/staged_send.hpp"
#include "transports/tune/exchange.hpp"

namespace penstock::transports::tune {

/// Owns what it has in flight for the slot's payload. Thread: one.
class Sending {
 public:
  /// Both must outlive it.
  Sending(Slot& slot, const BufferView& source) noexcept : slot_(slot), source_(source) {}

  /// Does the sender's part of the slot's state. Never blocks.
  [[nodiscard]] Status step() noexcept;

 private:
  [[nodiscard]] Status stage(Staging staging) noexcept;
  [[nodiscard]] Status push() noexcept;
  void end() noexcept;

  Slot& slot_;
  const BufferView& source_;
  std::unique_ptr<StagedSend> staged_;
  std::unique_ptr<Pull> push_;
};

}  // namespace penstock::transports::tune
