// Records one message half, from its posting to its completion. Knows the recorder and communicators.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <memory>

#include "interpose/calls/call_scope.hpp"
#include "interpose/calls/communicators.hpp"
#include "interpose/record/trace_format.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A value; does nothing unless begin() was called while recording. Thread: one at a time.
class MessageRecord {
 public:
  MessageRecord() noexcept { half_.post_ns = 0; }
  /// `peer` is a rank of the communicator; a wildcard is resolved at completion.
  void begin(const CallScope& scope, trace::Direction direction, MPI_Comm communicator, int peer, int tag,
             std::uint64_t bytes, transports::BufferKind buffer, bool blocking) noexcept {
    if (scope.recording()) begin(scope, direction, info_of(communicator), peer, tag, bytes, buffer, blocking);
  }
  /// The same with the communicator's record, which may be null.
  void begin(const CallScope& scope, trace::Direction direction,
             const std::shared_ptr<CommunicatorInfo>& communicator, int peer, int tag, std::uint64_t bytes,
             transports::BufferKind buffer, bool blocking) noexcept;
  void set_key(std::uint64_t key) noexcept { half_.key = key; }
  /// Records the current time as the match: the receiver saw the message arrive, or the sender saw it taken.
  /// Only the first call counts.
  void matched() noexcept;
  /// Writes the half, completed now.
  void complete() noexcept;
  /// The same with a receive's source, tag and size from the status. Writes nothing if it was cancelled.
  void complete(const MPI_Status& status) noexcept;

 private:
  trace::MessageHalf half_;                    ///< until begin() only post_ns is valid, and 0
  std::shared_ptr<CommunicatorInfo> senders_;  ///< resolves a wildcard; the communicator may be freed
};

}  // namespace penstock::interpose
