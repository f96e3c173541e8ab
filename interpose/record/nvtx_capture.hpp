// Records the application's NVTX ranges: Penstock is the NVTX injection library (NVTX_INJECTION64_PATH),
// whose functions the program's NVTX calls reach. Knows nothing of CUDA. Outside a recording it answers and
// does no more.
#pragma once

#include <cstdint>

namespace penstock::record {

/// From now on ranges are recorded. Thread: the one in begin().
void start_nvtx_capture() noexcept;

/// Records as ending at `end_ns` the push/pop ranges that the calling thread still has open.
void close_open_ranges(std::uint64_t end_ns) noexcept;

}  // namespace penstock::record
