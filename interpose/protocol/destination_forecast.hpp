// Will a payload end in the other kind of memory than it comes from? Then large ones from host memory had
// better go by an envelope, and small ones from a device through the MPI library, and only the receiver
// knows. So receivers note in the directory where such payloads went, by sender and tag, and senders expect
// the next one to go the same way: programs repeat themselves. A wrong guess costs time, nothing else;
// messages between host buffers never take part. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

enum class HostDeviceCopy : std::uint8_t { upload, download };

/// Did the last such payload of this rank's with the tag, or one that shares its place, cross over? Thread:
/// any. Cost: a load.
[[nodiscard]] bool expects(HostDeviceCopy copy, const DirectoryRow& receiver, int tag) noexcept;

/// This rank has received a payload that may have crossed, or not. `sender` is a rank in MPI_COMM_WORLD.
/// Thread: any.
void note_destination(HostDeviceCopy copy, bool crossed, int sender, int tag) noexcept;

}  // namespace penstock::interpose
