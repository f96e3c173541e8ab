#include "interpose/protocol/open_delivery.hpp"

#include <utility>

#include "interpose/network/network_delivery.hpp"
#include "interpose/protocol/rendezvous_receive.hpp"

namespace penstock::interpose {

std::unique_ptr<Delivery> open_delivery(const Envelope& envelope, transports::BufferView destination,
                                        std::size_t capacity) {
  if (comes_from_other_node(envelope))
    return std::make_unique<NetworkDelivery>(envelope, std::move(destination), capacity);
  return std::make_unique<RendezvousReceive>(envelope, std::move(destination), capacity);
}

}  // namespace penstock::interpose
