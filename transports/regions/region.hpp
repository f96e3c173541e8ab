// Memory that a sender and a receiver share for one payload at a time. Its header counts the bytes that the
// sender has produced and the receiver consumed; the bytes pass through its ring. The header lies in a
// segment; the ring lies behind it, or, for a relayed payload, in memory of the sender's device. Makes no
// copies and knows no layouts.
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
/// Written in place of a count by a side that has given up.
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
  std::atomic<std::int64_t> receiver_id;            ///< 0 until the receiver has arrived
  std::atomic<std::uint64_t> receiver_nonce;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free && sizeof(RegionHeader) <= region_header_bytes);

/// The ring as one side addresses it: byte n of the payload is at data[n % bytes].
struct Ring {
  char* data = nullptr;
  std::size_t bytes = 0;
  Side side = Side::host;
};

/// A region as one side has it mapped. Owns a share of the segment.
class MappedRegion {
 public:
  MappedRegion(std::shared_ptr<Segment> segment, std::size_t offset, std::size_t bytes) noexcept
      : segment_(std::move(segment)), offset_(offset), bytes_(bytes) {}
  [[nodiscard]] RegionHeader& header() const noexcept {
    return *reinterpret_cast<RegionHeader*>(segment_->address() + offset_);
  }
  /// The memory behind the header; empty if there is only a header.
  [[nodiscard]] Ring ring() const noexcept {
    return {segment_->address() + offset_ + region_header_bytes, bytes_ - region_header_bytes, Side::host};
  }
  [[nodiscard]] const Segment& segment() const noexcept { return *segment_; }
  [[nodiscard]] std::size_t offset() const noexcept { return offset_; }
  /// Pins the segment for the GPU; `context` must be current. Returns false if it cannot be pinned.
  bool pin(const cuda::ContextRef& context) const noexcept { return segment_->pin(context); }

 private:
  std::shared_ptr<Segment> segment_;
  std::size_t offset_;
  std::size_t bytes_;
};

/// The sender's side. Owns its share of the segment.
class StagingRegion {
 public:
  /// Adds `count` regions to `regions`, all in one new segment. `capacity`: of the ring behind each header.
  [[nodiscard]] static Status make(std::size_t capacity, std::size_t count,
                                   std::vector<std::unique_ptr<StagingRegion>>& regions);
  /// `number`: of the segment, unique in the process.
  StagingRegion(MappedRegion memory, std::uint64_t number) noexcept;
  StagingRegion(const StagingRegion&) = delete;
  StagingRegion& operator=(const StagingRegion&) = delete;

  /// Sets how many processes share the memory of the machine, or of the job's control group.
  static void share_memory_among(unsigned processes) noexcept;
  /// Returns whether this much more may be kept for receivers that have not arrived. All regions of the
  /// process together take at most a sixteenth of that memory, those of all processes a quarter, and a
  /// quarter of the process' descriptors.
  [[nodiscard]] static bool may_buffer(std::size_t capacity) noexcept;

  [[nodiscard]] MappedRegion& mapped() noexcept { return mapped_; }
  [[nodiscard]] std::size_t capacity() const noexcept { return mapped_.ring().bytes; }
  /// The ring of the present message: in device memory if the region has some.
  [[nodiscard]] Ring ring() const noexcept;

  /// Makes the region serve a new message, and names it in the offer. Only when nothing uses it for the last
  /// one.
  void begin(std::uint64_t payload_bytes, Offer& offer) noexcept;
  /// Likewise, for a message that passes through device memory. On failure the offer is unchanged.
  [[nodiscard]] Status begin(std::uint64_t payload_bytes, cuda::RelaySlice memory, Offer& offer);
  /// Ends the service of a message that is done; returns its device memory.
  void end() noexcept { device_memory_ = {}; }
  /// True if the receiver has taken every byte of the message or has given up: it does not access the region
  /// any more.
  [[nodiscard]] bool is_drained() const noexcept;
  /// True if a receiver had arrived and has died. Cost: may read /proc.
  [[nodiscard]] bool lost_its_receiver() const noexcept;

 private:
  MappedRegion mapped_;
  cuda::RelaySlice device_memory_;
  std::uint64_t number_;
  std::uint64_t payload_bytes_ = 0;
};

/// Returns the number of the sender's segment that a RegionName::id refers to, whatever the message.
[[nodiscard]] constexpr std::uint64_t segment_number(std::uint64_t ticket) noexcept {
  return ticket >> 32;
}

/// Finds the region that an offer names in its segment, on the receiver's side. Checks every word. Errors:
/// `peer_lost` for what does not fit.
[[nodiscard]] Status find_region(const Offer& offer, std::shared_ptr<Segment> segment,
                                 std::shared_ptr<MappedRegion>& region);

}  // namespace penstock::transports
