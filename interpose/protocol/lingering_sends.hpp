// Slots that outlive their sends: these are complete for the user, as their payloads are buffered, and their
// receivers are not done yet. Knows no send.
#pragma once

#include <memory>

#include "interpose/node/slots.hpp"
#include "transports/staged/staged_send.hpp"

namespace penstock::interpose {

/// Returns true if the receiver is done and no signal of the driver for the slot is outstanding.
[[nodiscard]] bool is_over(const Slot& slot) noexcept;

/// Releases a region that the receiver has drained or will not read.
void drop_staged(std::unique_ptr<transports::StagedSend>& staged) noexcept;

/// Keeps the slot, and the region that its receiver still has to drain, until both are free. Thread: under
/// RequestTable::Lock. Does not allocate.
void let_linger(Slot* slot, std::unique_ptr<transports::StagedSend> staged) noexcept;

/// Frees those that are over.
void reap_lingering_sends() noexcept;
/// Gives up the others, in MPI_Finalize.
void abandon_lingering_sends() noexcept;

}  // namespace penstock::interpose
