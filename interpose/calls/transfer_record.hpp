// Records copies that Penstock makes between the application's memory and its own. Knows the recorder; no
// transports.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/calls/errors.hpp"
#include "interpose/record/recorder.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// Records a finished copy that Penstock made itself. `reason` is a literal.
void record_own_copy(trace::TransportKind transport, std::uint64_t begin_ns, std::size_t bytes,
                     transports::BufferKind source, transports::BufferKind destination,
                     const char* reason) noexcept;

/// Records a finished collective that kernels did, of which this rank contributed or received so many bytes.
void record_one_shot_collective(std::uint64_t begin_ns, std::size_t bytes) noexcept;

/// What a copy between a buffer and a window is recorded as. `begin_ns` 0: not at all.
struct WindowCopy {
  std::uint64_t begin_ns = 0;
  std::size_t bytes = 0;
  trace::TransportKind transport = trace::TransportKind::staged;
  transports::BufferKind source = transports::BufferKind::unknown;
  transports::BufferKind destination = transports::BufferKind::unknown;
};

/// Records a copy that ends now.
void record_copy(const WindowCopy& copy) noexcept;

/// Calls `copy()`, which returns a Status, as Penstock's own work, and records it as above if it went well;
/// says what made it slower.
template <typename Copy>
Status own_copy(trace::TransportKind transport, std::size_t bytes, transports::BufferKind source,
                transports::BufferKind destination, const char* reason, Copy copy) {
  const std::uint64_t begin_ns = record::is_on() ? record::now_ns() : 0;
  Status copied = copy();
  say_what_was_refused();
  if (copied.ok()) record_own_copy(transport, begin_ns, bytes, source, destination, reason);
  return copied;
}

/// The same for the copies of a staged call or message.
template <typename Copy>
Status staged_copy(std::size_t bytes, transports::BufferKind source, transports::BufferKind destination,
                   const char* reason, Copy copy) {
  return own_copy(trace::TransportKind::staged, bytes, source, destination, reason, copy);
}

}  // namespace penstock::interpose
