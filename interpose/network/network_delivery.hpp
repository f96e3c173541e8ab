// Brings a payload from a sender of another node to its place. Knows its reception; no chunks.
#pragma once

#include <memory>

#include "interpose/messages/delivery.hpp"
#include "interpose/network/reception.hpp"

namespace penstock::interpose {

/// Owns the reception; what is left of it then is the engine's. Thread: one at a time.
class NetworkDelivery final : public Delivery {
 public:
  NetworkDelivery(const Envelope& envelope, transports::Place destination, std::size_t capacity);
  ~NetworkDelivery() override;

  [[nodiscard]] bool advance() override;
  /// True from the first step on, as it takes many.
  [[nodiscard]] bool is_under_way() const noexcept override { return true; }

 private:
  std::unique_ptr<Reception> reception_;
};

}  // namespace penstock::interpose
