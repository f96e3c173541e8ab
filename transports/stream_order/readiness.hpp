// Stream order: is the work that the application queued before its MPI call done? Users assume legacy default
// stream order, so a payload may be read (or a receive buffer written) only after it. Knows nothing of MPI.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "transports/host/in_call.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

enum class StreamOrder : std::uint8_t {
  legacy_stream,  ///< default: wait for work queued on the legacy default stream before the call
  none,           ///< the application synchronises itself
  device,         ///< wait for all work of the context
};
void set_stream_order(StreamOrder order) noexcept;

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

/// True once the work that was queued on the buffer's device when the place was handed over is done. Never
/// waits. Cost: nothing if the stream was seen idle since then, as by another message of the same MPI call;
/// else a query (1.3 µs on an H200 host when the stream is idle, 0.1 when it is busy). Thread: any.
[[nodiscard]] bool is_idle(const Place& place) noexcept;

/// An error if the context that `place` belongs to is gone or an earlier kernel has failed in it: then no
/// signal will ever come. Cost: a query. Thread: any.
[[nodiscard]] Status health_of(const Place& place) noexcept;

}  // namespace penstock::transports
