// Posts sends, by the protocol that their plan leads to (send_plan.hpp). Knows slots, envelopes and
// transports; the wrappers know only this file and the plan.
#pragma once

#include <mpi.h>

#include "interpose/calls/call_scope.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/progress/requests.hpp"
#include "interpose/protocol/send_plan.hpp"

namespace penstock::interpose {

/// Posts a send. `plan` is the result of plan_send(call), made in this MPI call. Returns a PMPI code; the
/// caller then attaches or finishes the operation.
int post_send(const SendCall& call, const SendPlan& plan, const CallScope& scope, bool blocking,
              Operation& operation);

}  // namespace penstock::interpose
