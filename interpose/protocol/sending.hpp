// Posting sends: a host buffer goes as it is, a device buffer as an envelope to a rank that can take the
// payload another way, else through host memory; a large host buffer too goes as an envelope where it will
// end on a device. Knows slots, envelopes and transports; the wrappers know only this.
#pragma once

#include <mpi.h>

#include <optional>

#include "interpose/calls/call_scope.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/node/node_directory.hpp"
#include "interpose/progress/requests.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::interpose {

/// What a send's buffer is, who receives it, and so whether Penstock has a part in it: asked once.
struct SendPlan {
  /// The MPI library may be given the call as it is: host buffer, no look-alike of an envelope, and not
  /// expected on a device.
  [[nodiscard]] bool is_plain() const noexcept { return !source; }

  std::optional<transports::Place> source;  ///< the payload; none in a plain send
  int receiver = -1;                        ///< world rank; -1 in a plain send, and where it is unknown
  DirectoryRow* neighbour = nullptr;        ///< the receiver's, if it sees this rank's shared memory
  bool on_device = false;
  bool others_follow = false;  ///< the rank's next calls probably send more; to be set by who knows
};

/// Errors: UnreadableDatatype, std::bad_alloc. Cost in programs that use no GPU: some ns.
[[nodiscard]] SendPlan plan_send(const SendCall& call);

/// True if all sends with these arguments are plain, whatever they will be about.
[[nodiscard]] bool is_always_plain(const SendCall& call);

/// Posts a send; `plan` is plan_send(call), made in this MPI call. Returns a PMPI code; the operation is then
/// to be attached or finished.
int post_send(const SendCall& call, const SendPlan& plan, const CallScope& scope, bool blocking,
              Operation& operation);

}  // namespace penstock::interpose
