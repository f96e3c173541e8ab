// Which way an announced payload comes: from this node or from another one. Knows both ways, and nothing of
// how they go.
#pragma once

#include <cstddef>
#include <memory>

#include "interpose/messages/delivery.hpp"

namespace penstock::interpose {

/// Begins the delivery of what the envelope announces. `capacity`: bytes that the receive has room for. A
/// longer payload is not brought (Delivery::truncated()). Errors: std::bad_alloc.
[[nodiscard]] std::unique_ptr<Delivery> open_delivery(const Envelope& envelope, transports::Place destination,
                                                      std::size_t capacity);

}  // namespace penstock::interpose
