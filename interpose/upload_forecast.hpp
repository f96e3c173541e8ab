// Will a large payload from host memory end on a device? Only then is an envelope better for it than the MPI
// library, and only the receiver knows. So receivers note in the directory where such payloads went, by
// sender and tag, and senders expect the next one to go the same way: programs repeat themselves. A wrong
// guess costs time, nothing else; messages between host buffers never take part. Knows no message protocol.
#pragma once

#include <cstdint>

#include "interpose/node_directory.hpp"

namespace penstock::interpose {

/// Smaller ones are not worth a word. The library moves host memory at 13 GB/s and the upload from pageable
/// memory runs at 19 (H200): 256 KiB take some 35 µs that way, the fetch of an envelope's payload 10 and the
/// copy itself 5 to 10.
inline constexpr std::uint64_t least_uploaded_bytes = 256u << 10;

/// Did the last such payload of this rank's with the tag, or one that shares its place, end on a device?
/// Thread: any. Cost: a load.
[[nodiscard]] bool expects_upload(const DirectoryRow& receiver, int tag) noexcept;

/// This rank has received such a payload. `sender` is a rank in MPI_COMM_WORLD. Thread: any.
void note_destination(int sender, int tag, bool on_device) noexcept;

}  // namespace penstock::interpose
