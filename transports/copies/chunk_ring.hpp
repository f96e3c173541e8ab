// How payloads pass between nodes: in chunks, through a ring of pinned host memory on either side. Says how
// large the chunks are and lends the rings. Knows no message and no copies.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/device_memory/pinned_memory.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Size of the chunk that begins at `offset`; the same on both sides. Small at first, so that the wire has
/// something early, each as large as all before it up to 1 MiB (45 GB/s over PCIe, and stock MPIs are fastest
/// from 512 KiB to 1 MiB), and small at the end, so that little is left to upload. None reaches past the end
/// of a ring: sizes are powers of two, and each offset is a multiple of its chunk's.
[[nodiscard]] std::size_t chunk_bytes_at(std::size_t offset, std::size_t payload_bytes) noexcept;

/// The way of a payload, seen from the device.
enum class Way : std::uint8_t { out, in };

/// A ring of one payload's, or the wish for one: so many are on loan for each way at a time that others wait,
/// in the order in which they came. What has a ring must come to its end without anybody else's.
/// Thread: one at a time.
class ChunkRing {
 public:
  static constexpr std::size_t bytes = cuda::Bounce::depth * cuda::Bounce::chunk_bytes;

  /// Takes a place in the line.
  explicit ChunkRing(Way way);
  ~ChunkRing();
  ChunkRing(const ChunkRing&) = delete;
  ChunkRing& operator=(const ChunkRing&) = delete;

  /// Never blocks. `taken`: data() is there from now on. `device` is the buffer that it serves. Memory that
  /// cannot be pinned will do too; the driver then copies through its own.
  [[nodiscard]] Status try_take(const Buffer& device, bool& taken) noexcept;
  [[nodiscard]] char* data() const noexcept { return memory_->chunk(0); }

 private:
  Way way_;
  cuda::Bounce::Loan memory_;
};

}  // namespace penstock::transports
