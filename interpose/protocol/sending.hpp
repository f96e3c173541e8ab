// Posting sends: a host buffer goes as it is, a device buffer as an envelope to a rank that can take the
// payload another way, else through host memory; a large host buffer too goes as an envelope where it will
// end on a device. Knows slots, envelopes and transports; the wrappers know only this.
#pragma once

#include <mpi.h>

#include "interpose/calls/call_scope.hpp"
#include "interpose/messages/send_call.hpp"
#include "interpose/progress/requests.hpp"

namespace penstock::interpose {

/// True if the MPI library may be given the call as it is: host buffer, no look-alike of an envelope, and not
/// expected on a device.
[[nodiscard]] bool is_plain(const SendCall& call);

/// True if it may be given all sends with these arguments, whatever they will be about.
[[nodiscard]] bool is_always_plain(const SendCall& call);

/// Posts a send; `plain` is is_plain(call). Returns a PMPI code; the operation is then to be attached or
/// finished.
int post_send(const SendCall& call, bool plain, const CallScope& scope, bool blocking, Operation& operation);

}  // namespace penstock::interpose
