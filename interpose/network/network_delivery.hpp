// The delivery of a payload from a sender on another node. Knows its Reception; no chunks.
#pragma once

#include <memory>

#include "interpose/messages/delivery.hpp"
#include "interpose/network/reception.hpp"

namespace penstock::interpose {

/// Owns the reception and passes an unfinished one to the engine. Thread: one at a time.
class NetworkDelivery final : public Delivery {
 public:
  NetworkDelivery(const Envelope& envelope, transports::Place destination, std::size_t capacity);
  ~NetworkDelivery() override;

  [[nodiscard]] bool advance() override;
  /// Always true, as the delivery takes many steps.
  [[nodiscard]] bool is_under_way() const noexcept override { return true; }

 private:
  std::unique_ptr<Reception> reception_;
};

}  // namespace penstock::interpose
