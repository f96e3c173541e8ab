// Posts sends. A host buffer is sent unchanged; a large one that will end on a device goes by an envelope. A
// device buffer goes by an envelope to a rank that can fetch the payload another way, otherwise through host
// memory. Knows slots, envelopes and transports; the wrappers know only this file.
#pragma once

#include <mpi.h>

#include <optional>

#include "interpose/calls/call_scope.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// A send's buffer and receiver, and so whether Penstock takes part in it; determined once.
struct SendPlan {
  /// Returns true if the MPI library may get the call unchanged: a host buffer that does not look like an
  /// envelope and is not expected on a device.
  [[nodiscard]] bool is_plain() const noexcept { return !source; }

  std::optional<transports::BufferView> source;  ///< the payload; empty for a plain send
  int receiver = -1;                             ///< world rank; -1 for a plain send, or if it is unknown
  DirectoryRow* neighbour = nullptr;             ///< the receiver's row, if it sees this rank's shared memory
  bool on_device = false;
  bool others_follow = false;  ///< the rank's next calls probably send more; set by the caller
};

/// Errors: UnreadableDatatype, std::bad_alloc. Cost in programs without a GPU: some ns.
[[nodiscard]] SendPlan plan_send(const SendCall& call);

/// Returns true if all sends with these arguments are plain, whatever the buffer contains.
[[nodiscard]] bool is_always_plain(const SendCall& call);

/// Posts a send. `plan` is the result of plan_send(call), made in this MPI call. Returns a PMPI code; the
/// caller then attaches or finishes the operation.
int post_send(const SendCall& call, const SendPlan& plan, const CallScope& scope, bool blocking,
              Operation& operation);

}  // namespace penstock::interpose
