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

/// From host memory: smaller ones are not worth a word. The library moves host memory at 13 GB/s and the
/// upload from pageable memory runs at 19 (H200): 256 KiB take some 35 µs that way, the fetch of an
/// envelope's payload 10 and the copy itself 5 to 10.
inline constexpr std::uint64_t least_uploaded_bytes = 256u << 10;
/// From a device, in a call that waits. The message through the MPI library is the last step then, where an
/// envelope would be the first of several: that saves 1 µs of 7 with 1 KiB (H200), and less the more there is
/// to copy into and out of MPI's own buffers. And no more than that library sends before its receiver comes,
/// as it is set up: Open MPI 4096 bytes with a header on them (btl_vader_eager_limit).
#ifdef OPEN_MPI
inline constexpr std::uint64_t most_downloaded_bytes = 4000;
#else
inline constexpr std::uint64_t most_downloaded_bytes = 4096;
#endif

enum class HostDeviceCopy : std::uint8_t { upload, download };

/// Did the last such payload of this rank's with the tag, or one that shares its place, cross over? Thread:
/// any. Cost: a load.
[[nodiscard]] bool expects(HostDeviceCopy crossing, const DirectoryRow& receiver, int tag) noexcept;

/// This rank has received a payload that may have crossed, or not. `sender` is a rank in MPI_COMM_WORLD.
/// Thread: any.
void note_destination(HostDeviceCopy crossing, bool crossed, int sender, int tag) noexcept;

}  // namespace penstock::interpose
