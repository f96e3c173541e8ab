// Records the application's NVTX ranges: Penstock is the NVTX injection library (NVTX_INJECTION64_PATH),
// whose functions the program's NVTX calls reach. Outside a recording these only return. Knows no CUDA.
#pragma once

#include <cstdint>

namespace penstock::record {

/// Starts to record ranges. Thread: the one in begin().
void start_nvtx_capture() noexcept;

/// Records the push/pop ranges that the calling thread still has open, as ending at `end_ns`.
void close_open_ranges(std::uint64_t end_ns) noexcept;

}  // namespace penstock::record
