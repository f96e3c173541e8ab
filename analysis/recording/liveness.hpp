// Tells whether the process that writes a recording is there. Must not know records.
#pragma once

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis {

/// On the host of the job, asks the kernel for the process. On another one goes by the recorder's last sign
/// of life, which it gives four times a second: both hosts' system clocks must agree to some seconds.
[[nodiscard]] bool is_running(const trace::FileHeader& header);

/// Returns the time of the system clock. Unit: ns.
[[nodiscard]] std::uint64_t realtime_now_ns();

}  // namespace penstock::analysis
