// Messages that probes have received ahead of their receives. A probe must report the payload's size, and for
// that the envelope must be received. The stash keeps it, in order of arrival; later receives and probes
// search the stash first. Knows envelopes and MPI's matching rule, no transports.
//
// Order: for each source, a stash holds a prefix of the messages that MPI has not matched yet. Searching the
// stash first therefore never lets a message overtake an earlier one of the same source.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <deque>
#include <optional>
#include <vector>

#include "interpose/calls/communicators.hpp"
#include "interpose/node/envelope.hpp"

namespace penstock::interpose {

/// One message received ahead. Exactly one of the last three members holds it.
struct StashedMessage {
  MPI_Status status{};                     ///< source, tag and the payload's size
  std::optional<Envelope> envelope;        ///< if it was an envelope
  MPI_Message message = MPI_MESSAGE_NULL;  ///< the MPI library's own handle, if it is not received yet
  std::vector<std::byte> bytes;            ///< if it was a payload of an envelope's size
};

/// Belongs to a communicator. Thread: under CommunicatorInfo::stash_lock.
class Stash {
 public:
  /// Removes and returns the first message that matches (source, tag), wildcards included.
  [[nodiscard]] std::optional<StashedMessage> take(int source, int tag);
  /// Returns the same message without removing it.
  [[nodiscard]] const StashedMessage* peek(int source, int tag) const;
  void append(StashedMessage message);

 private:
  std::deque<StashedMessage> messages_;
};

/// Takes messages from the MPI library until one matches (source, tag) or none has arrived. Takes only a
/// possible envelope and what arrived before it from the same source. Returns a PMPI code. `*found` is the
/// match if it is stashed; if it stays in the MPI library, `*found` is null, `*flag` is 1 and `*status`
/// describes it. Thread: under `info.stash_lock`.
int look_ahead(MPI_Comm communicator, CommunicatorInfo& info, int source, int tag, int* flag,
               MPI_Status* status, const StashedMessage** found);

/// Returns true if the received bytes (envelope_bytes of them) are an envelope. Call it once for each
/// message, as it counts envelopes.
[[nodiscard]] bool take_envelope(const void* bytes, Envelope* envelope);

/// Receives a message that may be an envelope by its handle. Any other message stays in the MPI library, and
/// `message` keeps the handle. Returns a PMPI code.
int open_message(MPI_Message handle, const MPI_Status& probed, const CommunicatorInfo& info,
                 StashedMessage* message);

/// Removes and returns a stashed match, if there is any. Thread: under StashLock.
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
