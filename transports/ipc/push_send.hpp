// The sender's half of the transport `pushed`: the sender's GPU writes a payload, from pinned host memory or
// from its own, straight into the buffer that the receiver has offered. Knows no slots and no transports.
#pragma once

#include <memory>

#include "transports/copies/pull.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// Maps the receiver's destination, as make_offer() published it, and starts the copy: a pull in the other
/// direction, behind the work that this process's application had queued when it handed the source over. No
/// work of the receiver's application may still use the destination. Thread: any; the push one at a time.
/// Errors: `declined` as long as no byte has moved, with the driver's error in `detail` if a driver call
/// failed.
[[nodiscard]] Status start_push(const BufferView& source, const Offer& target,
                                std::unique_ptr<Pull>& push) noexcept;

}  // namespace penstock::transports
