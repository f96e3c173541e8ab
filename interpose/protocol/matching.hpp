// Messages that probes have taken from the MPI library ahead of their receives. To tell a probe the payload's
// size, an envelope must be received; it is kept here, in order of arrival, and later receives and probes
// look here first. Knows envelopes and MPI's matching rule, no transports.
//
// Order: of each source, a stash holds a prefix of the messages that MPI has not yet matched, so looking here
// first never lets a message overtake an earlier one of the same source.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/envelope.hpp"

namespace penstock::interpose {

/// One message taken ahead. Exactly one of the three holds it.
struct StashedMessage {
  MPI_Status status{};                     ///< source, tag and the payload's size
  std::optional<Envelope> envelope;        ///< it was an envelope
  MPI_Message message = MPI_MESSAGE_NULL;  ///< not received yet: the MPI library's own handle
  std::vector<std::byte> bytes;            ///< a real payload of an envelope's size
};

/// Belongs to a communicator. Thread: under CommunicatorInfo::stash_lock.
class Stash {
 public:
  /// Takes out the first message that (source, tag) match, wildcards included.
  [[nodiscard]] std::optional<StashedMessage> take(int source, int tag);
  /// Looks at the same without taking it.
  [[nodiscard]] const StashedMessage* peek(int source, int tag) const;
  void append(StashedMessage message);

 private:
  std::deque<StashedMessage> messages_;
};

/// Takes messages from the MPI library until one matches (source, tag) or none has arrived; only what may be
/// an envelope, and what came before it from the same source, is taken. Returns a PMPI code; `*found` is the
/// match when it is stashed; if it is better left where it is, `*found` is null, `*flag` 1 and `*status`
/// tells it. Thread: under `info.stash_lock`.
int look_ahead(MPI_Comm communicator, CommunicatorInfo& info, int source, int tag, int* flag,
               MPI_Status* status, const StashedMessage** found);

/// True if what has been received (envelope_bytes of it) is an envelope. To be asked once of each message.
[[nodiscard]] bool take_envelope(const void* bytes, Envelope* envelope);

/// Receives a message that may be an envelope by its handle; any other is left to the MPI library, by the
/// handle. Returns a PMPI code.
int open_message(MPI_Message handle, const MPI_Status& probed, StashedMessage* message);

/// Takes a stashed match, if there is any stash at all. Thread: under StashLock.
[[nodiscard]] std::optional<StashedMessage> take_stashed(CommunicatorInfo* info, int source, int tag);

/// Locks a communicator's stash where several threads may be in MPI at once.
class StashLock {
 public:
  explicit StashLock(CommunicatorInfo* info);
  ~StashLock();
  StashLock(const StashLock&) = delete;
  StashLock& operator=(const StashLock&) = delete;

 private:
  CommunicatorInfo* info_ = nullptr;
};

}  // namespace penstock::interpose
