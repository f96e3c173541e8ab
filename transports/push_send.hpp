// The sender's part in the transport `pushed`: its GPU writes a payload from pinned host memory straight into
// the receiver's buffer, which the receiver has offered in its turn. Knows no slots and no transports.
#pragma once

#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Maps what the receiver says of its destination (describe()) and starts the copy, which is a pull the other
/// way round. Nothing of the application's may be using the destination any more. Thread: any; the push one
/// at a time. Errors: `declined` as long as no byte has moved, with the driver's error in `detail` where it
/// was asked.
[[nodiscard]] Status start_push(const Place& source, const Offer& target,
                                std::unique_ptr<Pull>& push) noexcept;

}  // namespace penstock::transports
