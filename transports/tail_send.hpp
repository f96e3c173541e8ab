// The sender's part in the transport `striped`: while the receiver pulls a large payload over NVLink,
// beginning at its front, the sender brings chunks of its tail to host memory, last one first, for the
// receiver to fetch over PCIe. Only as many as the receiver asks for (RegionHeader::wanted), so that it may
// fetch the rest itself. Knows no slots and no transports.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"

namespace penstock::transports {

/// How a payload's tail is cut; both sides reckon it from the payload's size. All sizes in bytes.
struct TailPlan {
  explicit constexpr TailPlan(std::uint64_t payload_bytes) noexcept
      : chunk(std::clamp(std::bit_floor(payload_bytes / share / least_chunks), least_chunk, most_chunk)),
        tail(payload_bytes / share / chunk * chunk),
        ring(std::min(tail, depth * chunk)) {}

  /// PCIe carries one part in so many of the payload: 42–45 GB/s beside NVLink's 396, the first of it after
  /// 0.1 ms. Two H200, of a raw peer copy: 256 MiB reached 1.066 with 16 MiB cut off, 1.083 with 20, 1.10
  /// with 24 and 0.89 with 32, which came too late; 1 GiB 1.066 with 64, 1.081 with 80.
  static constexpr std::uint64_t share = 12;
  /// So many chunks at least, lest the first come too late. With 1 MiB each PCIe carries a tenth less than
  /// with 2, with 4 no more.
  static constexpr std::uint64_t least_chunks = 8;
  static constexpr std::uint64_t least_chunk = 16u << 10;
  static constexpr std::uint64_t most_chunk = 2u << 20;
  /// Chunks under way.
  static constexpr std::uint64_t depth = 8;

  std::uint64_t chunk;
  std::uint64_t tail;  ///< whole chunks; 0: the payload is too small to be cut
  std::uint64_t ring;
};

/// Owns the region that the tail passes through, until destroyed. `source` must stay valid until then;
/// nothing is read from it before the receiver asks. Thread: one at a time.
class TailSend {
 public:
  /// Takes a region and writes its whereabouts into the offer's `tail`. Leaves both alone where the payload
  /// is too small, cannot be mapped, or its device has no peer over NVLink. Failures are no errors: without
  /// its tail, the payload goes by another transport.
  static void start(const Place& source, Offer& offer, std::unique_ptr<TailSend>& send) noexcept;
  virtual ~TailSend() = default;

  /// One step, never blocks. Never fails: what does not come the receiver fetches itself.
  virtual void advance() noexcept = 0;
  /// The receiver will look at the region no more.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  /// Bytes that lie, or have lain, in host memory for the receiver, and those that it has taken from there.
  [[nodiscard]] virtual std::uint64_t brought() const noexcept = 0;
  [[nodiscard]] virtual std::uint64_t taken() const noexcept = 0;
};

}  // namespace penstock::transports
