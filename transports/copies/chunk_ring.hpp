// Determines the sizes of the chunks in which payloads pass between nodes, and lends the rings of pinned host
// memory that they pass through on either side. Knows no message and no copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Returns the size of the chunk that begins at `offset`; the same on both sides. The first chunks are small
/// so that the wire has something early. Each is as large as all before it, up to 1 MiB (45 GB/s over PCIe;
/// stock MPIs are fastest from 512 KiB to 1 MiB). The last are small so that little is left to upload. No
/// chunk reaches past the end of a ring: sizes are powers of two, and each offset is a multiple of its
/// chunk's size.
[[nodiscard]] std::size_t chunk_bytes_at(std::size_t offset, std::size_t payload_bytes) noexcept;

/// The direction of a payload, seen from the device.
enum class Way : std::uint8_t { out, in };

/// A ring lent to one payload, or that payload's place in the queue for one. For each way a limited number of
/// rings is on loan; other payloads wait in the order in which they queued. A payload with a ring must be
/// able to complete without the progress of any other payload. Thread: one at a time.
class ChunkRing {
 public:
  static constexpr std::size_t bytes = cuda::Bounce::depth * cuda::Bounce::chunk_bytes;

  /// Enters the queue.
  explicit ChunkRing(Way way);
  ~ChunkRing();
  ChunkRing(const ChunkRing&) = delete;
  ChunkRing& operator=(const ChunkRing&) = delete;

  /// Takes a ring if one is free and this payload is first in the queue. Never blocks. `taken`: data() is
  /// valid from now on. `device` is the buffer that the ring serves. Memory that cannot be pinned will do
  /// too; the driver then copies through its own.
  [[nodiscard]] Status try_take(const Buffer& device, bool& taken) noexcept;
  [[nodiscard]] char* data() const noexcept { return memory_->chunk(0); }

 private:
  Way way_;
  cuda::Bounce::Loan memory_;
};

}  // namespace penstock::transports
