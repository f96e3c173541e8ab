// Posting receives: the user's own buffer where the host can write it, a staging buffer for device buffers;
// what arrives is the payload or an envelope, which is then delivered. Knows envelopes and stashes; the
// wrappers know only this.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>

#include "interpose/calls/call_scope.hpp"
#include "interpose/node/envelope.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/protocol/matching.hpp"

namespace penstock::interpose {

/// The arguments of a receive.
struct ReceiveCall {
  void* buffer;
  MPI_Count count;
  MPI_Datatype datatype;
  int source = MPI_ANY_SOURCE;
  int tag = MPI_ANY_TAG;
  MPI_Comm communicator = MPI_COMM_WORLD;
};

/// What a receive's buffer is: asked once.
struct ReceivePlan {
  bool is_ignored = false;  ///< it is the MPI library's own: from nobody, or Penstock moves nothing
  bool on_device = false;
  /// Of a blocking one: PMPI_Recv itself may do it: host memory, and nothing is stashed that it might match.
  bool is_direct = false;
  /// Of a direct one: what an envelope may come over (host_receives.hpp), where there is as much.
  std::array<std::byte, envelope_bytes> first_bytes;
};
[[nodiscard]] ReceivePlan plan_receive(const ReceiveCall& call);
/// The same of a blocking one, and whether it is direct.
[[nodiscard]] ReceivePlan plan_blocking_receive(const ReceiveCall& call);

/// Posts a receive. Looks among the messages that probes have taken ahead first. Returns a PMPI code; the
/// operation is then to be attached or finished.
int post_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, bool blocking,
                 Operation& operation);

/// The same for a message that a matched probe has handed out; it knows source, tag and communicator.
int post_matched_receive(const ReceiveCall& call, MPI_Message* message, const CallScope& scope, bool blocking,
                         Operation& operation);

/// A receive into a host buffer that PMPI_Recv itself has done, `code` its result: if an envelope arrived,
/// fetches the payload over it. `status` (not MPI_STATUS_IGNORE) is mended.
int after_direct_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, int code,
                         MPI_Status& status);

}  // namespace penstock::interpose
