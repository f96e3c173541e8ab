// Message handles that matched probes gave out: on which communicator, and, for a message that is no longer
// in the MPI library, what it was. In the latter case the user holds a real handle too, that of an empty
// message which the rank sent to itself. Knows stashed messages; no requests.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "interpose/protocol/matching.hpp"

namespace penstock::interpose {

/// Takes the first message that (source, tag) match out of a stash that holds one, and makes a handle that
/// stands for it. A message whose own handle is still there is given out by that. Returns the code of the
/// call; if it fails, the message stays in the stash. Thread: under CommunicatorInfo::stash_lock.
int hand_out_message(Stash& stash, int source, int tag, MPI_Comm communicator, MPI_Message* handle);

/// Remembers where a message came from that the MPI library itself handed out.
void note_message(MPI_Message handle, MPI_Comm communicator);

/// Forgets a handle that is about to be received. Tells its communicator, if known, of which the user may
/// have freed the handle; if it stands for a stashed message: consumes the handle (it becomes
/// MPI_MESSAGE_NULL) and returns the message.
void take_matched_message(MPI_Message* handle, std::shared_ptr<CommunicatorInfo>* communicator,
                          std::optional<StashedMessage>* message);

/// In MPI_Init and MPI_Finalize: the communicator on which the stand-ins travel is made at the first, and
/// freed. Without it, matched probes that find an envelope fail.
void open_matched_messages();
void close_matched_messages();
/// It has this rank only and returns errors, so that also questions may be asked on it of which no handler of
/// the program's may hear. Null where there is none.
[[nodiscard]] MPI_Comm communicator_of_this_rank() noexcept;

}  // namespace penstock::interpose
