// The record that a sender publishes about a payload so that another process can fetch it. It lies in memory
// shared by the ranks of a node, and another process may write anything into it: check before use.
#pragma once

#include <cstddef>
#include <cstdint>

#include "transports/cuda/devices.hpp"
#include "transports/host/process.hpp"
#include "transports/host/status.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/memory/strided_loops.hpp"
#include "transports/packing/integer_list.hpp"

namespace penstock::transports {

/// A region of the sender's, as another process finds it.
struct RegionName {
  std::uint64_t id;             ///< unique in the sender's life
  std::uint64_t offset;         ///< in its segment
  std::uint64_t segment_bytes;  ///< 0: there is none
  std::int32_t descriptor;      ///< the sender's, of the segment; -1: there is none
};

/// Trivially copyable; lies in shared memory. The sender writes it before it announces the offer, and once
/// more when it turns to staging (the region's fields) or relaying.
struct Offer {
  std::uint64_t payload_bytes;
  std::int64_t process_id;      ///< of the sender
  std::uint64_t process_nonce;  ///< distinguishes a process from a later one with the same id
  std::uint64_t address;        ///< of the first byte, in the sender's address space
  std::uint64_t buffer_id;      ///< distinguishes an allocation from a later one at the same address
  std::uint64_t range_base;
  std::uint64_t range_bytes;
  std::uint8_t device_uuid[16];
  std::uint8_t ipc_handle[64];  ///< CUipcMemHandle of the range; valid if `ipc_exported`
  BufferKind kind;
  std::uint8_t ipc_exported;
  std::uint8_t contiguous;  ///< the payload's bytes lie at `address` in one piece
  std::uint8_t strided;     ///< not in one piece, but as `loops` describe
  StridedLoops loops;
  /// The region through which the payload is staged, or whose header counts for a ring on the device.
  RegionName region;
  /// Not 0: the payload is relayed. The region is then only the header of a ring of this many bytes in device
  /// memory, and `address`, device and range describe that memory instead of the payload's.
  std::uint64_t ring_bytes;
  /// Not none: the payload is a list of such integers, which the receiver may request its sender to pack.
  Integer integers;
  /// Not 0: the list is packed, and a bitmap of this many words is offered in its place.
  std::uint64_t bitmap_words;

  /// The distance from the payload's first byte to behind its last; 0 if the numbers cannot be right.
  [[nodiscard]] std::uint64_t extent() const noexcept;
};

[[nodiscard]] inline ProcessIdentity sender_of(const Offer& offer) noexcept {
  return {offer.process_id, offer.process_nonce};
}
/// The device that the offer names, also one that this process does not see.
[[nodiscard]] cuda::Uuid device_of(const Offer& offer) noexcept;

/// Returns an offer of this process that names no memory.
[[nodiscard]] Offer empty_offer() noexcept;

/// Fills what of an offer is known without a driver query: size, kind of memory, process. A receiver may read
/// these fields before the rest is there.
[[nodiscard]] Offer begin_offer(const BufferView& source) noexcept;

/// Fills the rest of an offer that has begun, and leaves alone what a receiver may read meanwhile: identity
/// of device and allocation, and an IPC handle if the allocation has one (exports are cached by buffer id). A
/// refusal to export is not an error: `ipc_exported` is then 0, and `*why_not` is the reason (a literal).
/// Thread: any.
void complete_offer(const BufferView& source, Offer& offer, const char** why_not) noexcept;

/// Begins and completes an offer.
[[nodiscard]] Offer make_offer(const BufferView& source, const char** why_not) noexcept;

/// Turns the offer into one of a payload that is relayed through `ring_bytes` at `ring`. On failure the offer
/// is unchanged. Thread: any.
[[nodiscard]] Status describe_ring(const Buffer& ring, std::size_t ring_bytes, Offer& offer);

}  // namespace penstock::transports
