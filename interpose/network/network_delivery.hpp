// The delivery of a payload from a sender on another node. Knows its ChunkedReceive; no chunks.
#pragma once

#include <memory>

#include "interpose/messages/delivery.hpp"
#include "interpose/network/chunked_receive.hpp"

namespace penstock::interpose {

/// Owns the chunked receive and passes an unfinished one to the request table. Thread: one at a time.
class NetworkDelivery final : public Delivery {
 public:
  NetworkDelivery(const Envelope& envelope, transports::BufferView destination, std::size_t capacity);
  ~NetworkDelivery() override;

  [[nodiscard]] bool advance() override;
  /// Always true, as the delivery takes many steps.
  [[nodiscard]] bool is_under_way() const noexcept override { return true; }

 private:
  std::unique_ptr<ChunkedReceive> reception_;
};

}  // namespace penstock::interpose
