// Message handles that a matched probe gave out for messages which are no longer in the MPI library: the user
// holds a real handle (of an empty message that the rank sent to itself), and this tells what it stands for.
// Knows stashed messages; no requests.
#pragma once

#include <mpi.h>

#include <optional>

#include "interpose/matching.hpp"

namespace penstock::interpose {

/// Makes a handle that stands for a stashed message. A message whose own handle is still there is given out by
/// that. Returns a PMPI code. Thread: any.
int hand_out_message(StashedMessage message, MPI_Message* handle);

/// If the handle stands for a stashed message: consumes it, sets `*handle` to MPI_MESSAGE_NULL, returns the
/// message.
[[nodiscard]] std::optional<StashedMessage> redeem_message(MPI_Message* handle);

/// The communicator on which the stand-ins travel; made in MPI_Init, freed in MPI_Finalize.
void open_matched_messages();
void close_matched_messages();

}  // namespace penstock::interpose
