// Stream order: reports whether the work that the application queued before its MPI call is done. Users
// assume legacy default stream order, so a payload may be read (or a receive buffer written) only after that
// work. Knows nothing of MPI.
#pragma once

#include <cstdint>

#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

enum class StreamOrder : std::uint8_t {
  legacy_stream,  ///< default: wait for work queued on the legacy default stream before the call
  none,           ///< the application synchronises itself
  device,         ///< wait for all work of the context
};
void set_stream_order(StreamOrder order) noexcept;

/// True once the work that was queued on the buffer's device when the view was handed over is done; for a
/// scattered view, on the devices of all parts. Never waits, except in order `device`. Cost: nothing if the
/// stream was seen idle since then, for example by another message of the same MPI call; else a query (1.3 µs
/// on an H200 host if the stream is idle, 0.1 if it is busy). Thread: any.
[[nodiscard]] bool is_idle(const BufferView& view) noexcept;

/// Notes that a flag (ready_flags.hpp) was set: the work queued before the view was handed over is done. The
/// copy of the payload then does not wait for work queued later.
void note_done(const BufferView& view) noexcept;

/// Returns an error if the context that `view` belongs to is gone or an earlier kernel has failed in it:
/// then no flag will ever be set. Cost: a query. Thread: any.
[[nodiscard]] Status health_of(const BufferView& view) noexcept;

}  // namespace penstock::transports
