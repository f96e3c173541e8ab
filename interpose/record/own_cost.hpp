// What an event costs the thread that records it, measured on this machine when the recording begins.
#pragma once

#include <cstdint>

namespace penstock::record {

/// Two readings of the clock and one record, as an MPI call has it. Unit: picoseconds, since it is tens of
/// ns.
[[nodiscard]] std::uint64_t measure_event_cost_ps() noexcept;

}  // namespace penstock::record
