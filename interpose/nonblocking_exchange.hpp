// MPI_Isendrecv and MPI_Isendrecv_replace: a send and a receive behind one request. Knows how messages are
// posted, and nothing of how they travel.
#pragma once

#include <mpi.h>

#include "interpose/call_scope.hpp"
#include "interpose/receiving.hpp"
#include "interpose/sending.hpp"

namespace penstock::interpose {

/// Posts both. Returns the code of the call.
int post_exchange(const CallScope& scope, const SendCall& send, const ReceiveCall& receive,
                  MPI_Request* request);

/// The same for one buffer: a copy of it is sent, so that the receive may overwrite it.
int post_exchange_in_place(const CallScope& scope, const SendCall& send, const ReceiveCall& receive,
                           MPI_Request* request);

}  // namespace penstock::interpose
