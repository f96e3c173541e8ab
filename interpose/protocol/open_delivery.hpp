// Opens the delivery of an announced payload, from this node or from another one. Knows both kinds of
// delivery but not how they work.
#pragma once

#include <cstddef>
#include <memory>

#include "interpose/messages/delivery.hpp"

namespace penstock::interpose {

/// Starts the delivery of the payload that the envelope announces. `capacity`: bytes that the receive has
/// room for. A longer payload is not delivered (Delivery::truncated()). Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<Delivery> open_delivery(const Envelope& envelope,
                                                      transports::BufferView destination,
                                                      std::size_t capacity);

}  // namespace penstock::interpose
