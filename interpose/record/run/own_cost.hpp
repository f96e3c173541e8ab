// Measures what an event costs the thread that records it, on this machine, when the recording begins.
#pragma once

#include <cstdint>

namespace penstock::record {

/// Returns the cost of two clock readings and one record, as an MPI call makes them. Unit: picoseconds, since
/// it is tens of ns.
[[nodiscard]] std::uint64_t measure_event_cost_ps() noexcept;

}  // namespace penstock::record
