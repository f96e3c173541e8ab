// Collects the GPU's activity through CUPTI while a recording is on: opens the library, enables the activity
// kinds, runs the thread that reads the buffers. If something fails, prints one line and leaves the feature
// off. Knows no record's layout.
#pragma once

#include <cstdint>

namespace penstock::record {

struct CuptiLibrary;

/// Starts the capture on the first call; later ones do nothing. Thread: any.
void start_cupti_capture() noexcept;

/// Flushes CUPTI's records and stops the thread. CUPTI itself stays: it can be finalised safely only inside
/// one of its callbacks. Thread: one.
void stop_cupti_capture() noexcept;

/// Returns an estimate of the time that CUPTI has added to the CUDA calls that it has traced so far.
/// Thread: any.
[[nodiscard]] std::uint64_t cupti_cost_ns() noexcept;

/// Returns null while nothing is collected. Thread: any.
[[nodiscard]] const CuptiLibrary* cupti_in_use() noexcept;

}  // namespace penstock::record
