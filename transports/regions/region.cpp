#include "transports/regions/region.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <new>

#include "transports/host/memory_limit.hpp"

namespace penstock::transports {
namespace {

constexpr std::uint64_t region_magic = 0x31474552534e5450;  // "PTNSREG1"

std::atomic<unsigned> sharing_processes{1};

/// Counts the uses of all regions, so that no two messages have the same ticket.
std::uint64_t next_use() noexcept {
  static std::atomic<std::uint32_t> uses{0};
  return uses.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

Status StagingRegion::make(std::size_t capacity, std::size_t count,
                           std::vector<std::unique_ptr<StagingRegion>>& regions) {
  const std::size_t bytes = region_header_bytes + capacity;
  std::shared_ptr<Segment> segment;
  if (Status made = Segment::make(count * bytes, segment); !made.ok()) return made;
  static std::atomic<std::uint64_t> segments{0};
  const std::uint64_t number = segments.fetch_add(1, std::memory_order_relaxed) + 1;
  for (std::size_t i = 0; i < count; ++i)
    regions.push_back(std::make_unique<StagingRegion>(MappedRegion(segment, i * bytes, bytes), number));
  return {};
}

StagingRegion::StagingRegion(MappedRegion memory, std::uint64_t number) noexcept
    : mapped_(std::move(memory)), number_(number) {
  auto* header = new (&mapped_.header()) RegionHeader{};
  header->magic = region_magic;
  header->process_nonce = this_process().nonce;
  header->region_bytes = region_header_bytes + mapped_.ring().bytes;
}

void StagingRegion::share_memory_among(unsigned processes) noexcept {
  sharing_processes.store(std::max(processes, 1u), std::memory_order_relaxed);
}

bool StagingRegion::may_buffer(std::size_t capacity) noexcept {
  static const std::uint64_t limit_bytes = memory_limit_bytes();
  const std::uint64_t most_bytes =
      std::min(limit_bytes / 16, limit_bytes / 4 / sharing_processes.load(std::memory_order_relaxed));
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return false;
  const std::size_t used_bytes = Segment::made_bytes_now();
  return Segment::files_open() < descriptors.rlim_cur / 4 && used_bytes < most_bytes &&
         capacity <= most_bytes - used_bytes;
}

void StagingRegion::begin(std::uint64_t payload_bytes, Offer& offer) noexcept {
  RegionHeader& header = mapped_.header();
  payload_bytes_ = payload_bytes;
  header.produced.store(0, std::memory_order_relaxed);
  header.consumed.store(0, std::memory_order_relaxed);
  header.receiver_id.store(0, std::memory_order_relaxed);
  const std::uint64_t ticket = number_ << 32 | next_use();
  header.ticket.store(ticket, std::memory_order_release);
  const Segment& segment = mapped_.segment();
  offer.region = {ticket, mapped_.offset(), segment.bytes(), segment.descriptor()};
  offer.ring_bytes = 0;
}

Status StagingRegion::begin(std::uint64_t payload_bytes, cuda::RelaySlice memory, Offer& offer) {
  Offer relayed = offer;
  begin(payload_bytes, relayed);
  if (Status described = describe_ring(memory.buffer(), memory.bytes(), relayed); !described.ok())
    return described;
  device_memory_ = std::move(memory);
  offer = relayed;
  return {};
}

Ring StagingRegion::ring() const noexcept {
  if (!device_memory_) return mapped_.ring();
  return {static_cast<char*>(device_memory_.buffer().pointer), device_memory_.bytes(), Side::device};
}

bool StagingRegion::is_drained() const noexcept {
  const std::uint64_t consumed = mapped_.header().consumed.load(std::memory_order_acquire);
  return consumed == payload_bytes_ || consumed == gave_up;
}

bool StagingRegion::lost_its_receiver() const noexcept {
  const RegionHeader& header = mapped_.header();
  const std::int64_t receiver = header.receiver_id.load(std::memory_order_acquire);
  return receiver != 0 && !is_alive({receiver, header.receiver_nonce.load(std::memory_order_relaxed)});
}

Status find_region(const Offer& offer, std::shared_ptr<Segment> segment,
                   std::shared_ptr<MappedRegion>& region) {
  constexpr Status untrusted{Code::peer_lost, "sender's staging region"};
  const std::size_t bytes = segment->bytes();
  const std::uint64_t offset = offer.region.offset;
  if (bytes < region_header_bytes || offset > bytes - region_header_bytes ||
      offset % region_header_bytes != 0)
    return untrusted;
  const auto& header = *reinterpret_cast<const RegionHeader*>(segment->address() + offset);
  const std::uint64_t region_bytes = header.region_bytes;  // read once: its owner may write at any time
  if (header.magic != region_magic || header.process_nonce != offer.process_nonce ||
      region_bytes < region_header_bytes || region_bytes > bytes - offset) {
    return untrusted;
  }
  if (header.ticket.load(std::memory_order_acquire) != offer.region.id)
    return {Code::peer_lost, "sender's staging region serves another message"};
  region = std::make_shared<MappedRegion>(std::move(segment), offset, region_bytes);
  return {};
}

}  // namespace penstock::transports
