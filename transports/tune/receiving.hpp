// The receiver's half of one payload of a measurement: what a rank's receive does, without MPI.
#pragma once

#include <memory>

#include "transports/tune/exchange.hpp"

namespace penstock::transports::tune {

/// Owns its pull. Thread: one.
class Receiving {
 public:
  /// The slot must outlive it.
  Receiving(Slot& slot, BufferView destination) noexcept
      : slot_(slot), destination_(std::move(destination)) {}

  /// Requests the next payload. The slot must be idle.
  void begin() noexcept;
  /// Takes one step, never blocks. `finished`: the payload has arrived, and the sender knows.
  [[nodiscard]] Status step(bool& finished) noexcept;

  [[nodiscard]] TransportKind transport() const noexcept { return transport_; }
  [[nodiscard]] const char* reason() const noexcept { return reason_; }

 private:
  [[nodiscard]] Status take(TransportSet excluded) noexcept;
  void ask(TransportKind transport) noexcept;

  Slot& slot_;
  BufferView destination_;
  std::unique_ptr<Pull> pull_;
  TransportKind transport_ = TransportKind::none;
  const char* reason_ = "";
};

}  // namespace penstock::transports::tune
