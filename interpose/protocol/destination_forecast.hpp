// Forecasts whether a payload will end in the other kind of memory than its source. If it will, a large
// payload from host memory is faster by an envelope, and a small one from a device is faster through the MPI
// library. Only the receiver knows where its buffer lies. Receivers therefore record by sender and tag, in
// the directory, where such payloads went, and senders expect the next payload to go the same way. A wrong
// guess costs time only. Messages between host buffers never take part. Knows no message protocol.
#pragma once

#include <mpi.h>

#include <cstdint>

#include "interpose/node/node_directory.hpp"

namespace penstock::interpose {

enum class HostDeviceCopy : std::uint8_t { upload, download };

/// Returns true if this rank's last such payload with the tag crossed over; payloads of other senders and
/// tags may share its entry. Thread: any. Cost: a load.
[[nodiscard]] bool expects(HostDeviceCopy copy, const DirectoryRow& receiver, int tag) noexcept;

/// Records whether a received payload crossed. `sender` is a rank in MPI_COMM_WORLD. Thread: any.
void note_destination(HostDeviceCopy copy, bool crossed, int sender, int tag) noexcept;

}  // namespace penstock::interpose
