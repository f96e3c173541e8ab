// Posts receives: into the user's own buffer if the host can write it, into a staging buffer for a device
// buffer. The message that arrives is the payload or an envelope, whose payload is then delivered. Knows
// envelopes and stashes; the wrappers know only this file.
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

/// The kind of a receive's buffer; determined once.
struct ReceivePlan {
  /// The MPI library alone does it: from MPI_PROC_NULL, refused, or Penstock moves nothing.
  bool is_ignored = false;
  bool on_device = false;
  /// Blocking receives: PMPI_Recv itself may do it, into host memory, as no stashed message can match.
  bool is_direct = false;
  /// Direct receives: a copy of the first bytes, which an envelope may overwrite (host_receives.hpp), if the
  /// buffer has as many.
  std::array<std::byte, envelope_bytes> first_bytes;
};
[[nodiscard]] ReceivePlan plan_receive(const ReceiveCall& call);
/// The same for a blocking receive; also decides whether it is direct.
[[nodiscard]] ReceivePlan plan_blocking_receive(const ReceiveCall& call);

/// Posts a receive. Searches the messages that probes have received ahead first. Returns a PMPI code; the
/// caller then attaches or finishes the operation.
int post_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, bool blocking,
                 Operation& operation);

/// The same for a message that a matched probe returned; the handle implies source, tag and communicator.
int post_matched_receive(const ReceiveCall& call, MPI_Message* message, const CallScope& scope, bool blocking,
                         Operation& operation);

/// Finishes a receive into a host buffer that PMPI_Recv itself did, with `code` as its result: if an envelope
/// arrived, fetches the payload over it. Fixes `status`, which must not be MPI_STATUS_IGNORE.
int after_direct_receive(const ReceiveCall& call, const ReceivePlan& plan, const CallScope& scope, int code,
                         MPI_Status& status);

}  // namespace penstock::interpose
