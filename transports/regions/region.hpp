// Memory that a sender and a receiver share for one payload at a time: a header, which counts the bytes that
// the sender has produced and the receiver consumed, and a ring that they pass through. The header lies in
// a segment; the ring behind it, or, for a payload that is relayed, in memory of the sender's device.
// Knows no copies and no layouts.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "transports/copies/copy.hpp"
#include "transports/device_memory/relay_memory.hpp"
#include "transports/host/process.hpp"
#include "transports/regions/offer.hpp"
#include "transports/regions/segment.hpp"

namespace penstock::transports {

inline constexpr std::size_t region_header_bytes = 4096;
/// In place of a count: that side has given up.
inline constexpr std::uint64_t gave_up = ~0ull;

/// Lies at the region's begin. Each side trusts only what it has checked: the other may write anything.
struct RegionHeader {
  std::uint64_t magic;
  std::uint64_t process_nonce;  ///< of the sender
  std::uint64_t region_bytes;
  std::atomic<std::uint64_t> ticket;  ///< the message that the region serves now (RegionName::id)
  alignas(64) std::atomic<std::uint64_t> produced;  ///< bytes of the payload so far, or gave_up; written by
                                                    ///< the sender
  alignas(64) std::atomic<std::uint64_t> consumed;  ///< likewise by the receiver
  std::atomic<std::int64_t> receiver_id;            ///< once it has come; 0 before
  std::atomic<std::uint64_t> receiver_nonce;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(RegionHeader) <= region_header_bytes);

/// Where one side finds what passes: byte n of the payload at data[n % bytes].
struct Ring {
  char* data = nullptr;
  std::size_t bytes = 0;
  Side side = Side::host;
};

/// Where a region lies, on either side. Owns: a share of the segment.
class MappedRegion {
 public:
  MappedRegion(std::shared_ptr<Segment> segment, std::size_t offset, std::size_t bytes) noexcept
      : segment_(std::move(segment)), offset_(offset), bytes_(bytes) {}
  [[nodiscard]] RegionHeader& header() const noexcept {
    return *reinterpret_cast<RegionHeader*>(segment_->address() + offset_);
  }
  /// What lies behind the header; empty if that is all there is.
  [[nodiscard]] Ring ring() const noexcept {
    return {segment_->address() + offset_ + region_header_bytes, bytes_ - region_header_bytes, Side::host};
  }
  [[nodiscard]] const Segment& segment() const noexcept { return *segment_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  /// Pins the segment for the GPU; `context` must be current. False if it cannot be pinned.
  bool pin(const cuda::ContextRef& context) const noexcept { return segment_->pin(context); }

 private:
  std::shared_ptr<Segment> segment_;
  std::size_t offset_;
  std::size_t bytes_;
};

/// The sender's side. Owns: its share of the segment.
class Region {
 public:
  /// Adds `count` to `regions`, all in one new segment. `capacity`: of the ring behind each header.
  [[nodiscard]] static Status make(std::size_t capacity, std::size_t count,
                                   std::vector<std::unique_ptr<Region>>& regions);
  /// Number: of the segment, unique in the process.
  Region(MappedRegion memory, std::uint64_t number) noexcept;
  Region(const Region&) = delete;
  Region& operator=(const Region&) = delete;

  /// Whether so much more may be kept for receivers who have not come: all regions of the process take a
  /// sixteenth of the machine's memory and a quarter of the process' descriptors at most.
  [[nodiscard]] static bool may_buffer(std::size_t capacity) noexcept;

  [[nodiscard]] MappedRegion& mapped() noexcept { return mapped_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mapped_.ring().bytes; }
  /// The present message's: device memory if it has some.
  [[nodiscard]] Ring ring() const noexcept;

  /// From now on it serves a new message; says so in the offer. Only when nobody uses it for the last one.
  void begin(std::uint64_t payload_bytes, Offer& offer) noexcept;
  /// Likewise; the message passes through device memory. On failure the offer is left as it was.
  [[nodiscard]] Status begin(std::uint64_t payload_bytes, cuda::RelaySlice memory, Offer& offer);
  /// Nobody uses it for the message any more; device memory goes back to where it came from.
  void end() noexcept { device_memory_ = {}; }
  /// The receiver has taken every byte of the message, or has given up: it looks at the region no more.
  [[nodiscard]] bool is_drained() const noexcept;
  /// A receiver has come and has died. Cost: may read /proc.
  [[nodiscard]] bool lost_its_receiver() const noexcept;

 private:
  MappedRegion mapped_;
  cuda::RelaySlice device_memory_;
  std::uint64_t number_;
  std::uint64_t payload_bytes_ = 0;
};

/// Which segment of the sender's a RegionName::id means, whatever the message.
[[nodiscard]] constexpr std::uint64_t segment_number(std::uint64_t ticket) noexcept {
  return ticket >> 32;
}

/// The receiver's side: the region that an offer names in its segment. Every word is checked; what does not
/// fit is `peer_lost`.
[[nodiscard]] Status find_region(const Offer& offer, std::shared_ptr<Segment> segment,
                                 std::shared_ptr<MappedRegion>& region);

}  // namespace penstock::transports
