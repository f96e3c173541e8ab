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
/// Sets what signal_with_next() has left, and unpins it; for shut_down().
void forget_flag_memory() noexcept;

/// Stores 1 (release) to `flag` once the work that was queued on the buffer's device when the place was
/// handed over is done: at once when it already is, else from the driver's side (no thread of the application
/// needed). `flag` must stay mapped until then. On failure waits for the work and stores 1. Settles what
/// signal_with_next() has left. Cost: as is_idle(). Thread: any.
void signal_when_ready(const Place& place, std::atomic<std::uint32_t>* flag) noexcept;

/// The same, of one of several places that are handed over in calls that follow each other closely: an event
/// marks what is queued before each, and one question answers for some eight. So the flag may stay 0 until
/// settle_signals(), or for some 5 ms. Cost: 0.4 µs (H200), where a question takes 1.3.
void signal_with_next(const Place& place, std::atomic<std::uint32_t>* flag) noexcept;
/// All of them are set, or will be from the driver's side. Takes up to 3 µs, but does not wait for the
/// application. Cost: a load if there are none. Thread: any.
void settle_signals() noexcept;
[[nodiscard]] bool has_marked_signals() noexcept;
/// That flag is not set any more, if it is one of them.
void forget_signal(const std::atomic<std::uint32_t>* flag) noexcept;

}  // namespace penstock::transports
