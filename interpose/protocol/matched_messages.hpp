// Records of the message handles that matched probes returned: the communicator, and the message itself if it
// is no longer in the MPI library. In that case the user holds a real handle of an empty message that the
// rank sent to itself (a stand-in). Knows stashed messages; no requests.
#pragma once

#include <mpi.h>

#include <memory>
#include <optional>

#include "interpose/protocol/matching.hpp"

namespace penstock::interpose {

/// Takes the first message that matches (source, tag) out of a stash that holds one, and makes a handle for
/// it. If the message still has its own handle, returns that one. Returns the code of the call; if it fails,
/// the message stays in the stash. Thread: under CommunicatorInfo::stash_lock.
int return_message(Stash& stash, int source, int tag, MPI_Comm communicator, MPI_Message* handle);

/// Records the communicator of a handle that the MPI library itself returned.
void note_message(MPI_Message handle, MPI_Comm communicator);

/// Returns the record of a message's communicator, whose handle the user may have freed; null if it is not
/// known.
[[nodiscard]] std::shared_ptr<CommunicatorInfo> communicator_of_message(MPI_Message handle);

/// Forgets a handle that is about to be received. If it stands for a stashed message, consumes it (it becomes
/// MPI_MESSAGE_NULL) and returns the message.
[[nodiscard]] std::optional<StashedMessage> take_matched_message(MPI_Message* handle);

/// Called in MPI_Init and MPI_Finalize. The first stand-in creates the communicator on which stand-ins
/// travel; the second function frees it. Without it, matched probes that find an envelope fail.
void open_matched_messages();
void close_matched_messages();
/// Returns a communicator of this rank only that returns errors. It also serves for queries that must not
/// call the program's error handlers. Null if it cannot be created.
[[nodiscard]] MPI_Comm communicator_of_this_rank() noexcept;

}  // namespace penstock::interpose
