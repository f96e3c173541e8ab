// Collects the GPU's activity through CUPTI while a recording is on: opens the library, enables the kinds,
// runs the thread that reads the buffers. Knows no record's layout. What fails is said on one line and leaves
// the feature off.
#pragma once

namespace penstock::record {

struct CuptiLibrary;

/// The first call tries, later ones do nothing. Thread: any.
void start_cupti_capture() noexcept;

/// Flushes what CUPTI holds and stops the thread. CUPTI itself stays as it is: taking it down is safe only
/// from inside one of its callbacks. Thread: one.
void stop_cupti_capture() noexcept;

/// nullptr while nothing is collected. Thread: any.
[[nodiscard]] const CuptiLibrary* cupti_in_use() noexcept;

}  // namespace penstock::record
