// Flags that say that a payload may be read: that the work which the application queued before its MPI call
// is done. Whoever waits for one may be another process. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Memory that flags lie in, page-aligned, so that the GPU can be told to write to them: a few µs after the
/// work is done, where a function of the host's takes the driver's thread tens of µs and more. It is pinned
/// at first need; where that is refused, functions of the host's it is. It must stay mapped until
/// forget_flag_memory().
void set_flag_memory(void* memory, std::size_t bytes) noexcept;
/// Unpins it; for shut_down().
void forget_flag_memory() noexcept;

/// Stores 1 (release) to `flag` once the work that was queued on the buffer's device when the place was
/// handed over is done: at once when it already is, else from the driver's side (no thread of the application
/// needed). `flag` must stay mapped until then. On failure waits for the work and stores 1. Cost: as
/// is_idle(). Thread: any.
void signal_when_ready(const Place& place, std::atomic<std::uint32_t>* flag) noexcept;

}  // namespace penstock::transports
