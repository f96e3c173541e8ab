#include "transports/region.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <new>

namespace penstock::transports {
namespace {

constexpr std::uint64_t region_magic = 0x31474552534e5450;  // "PTNSREG1"
/// Neither side may cut the memory off under the other.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status system_status(const char* call) noexcept {
  const bool memory = errno == ENOMEM || errno == ENOSPC;
  return {memory ? Code::out_of_memory : Code::system_failed, call, errno};
}

/// Memory of this user, of the size that was offered.
bool is_what_was_offered(const struct stat& file, const Offer& offer) noexcept {
  return S_ISREG(file.st_mode) && file.st_uid == geteuid() && file.st_size > 0 &&
         static_cast<std::uint64_t>(file.st_size) == offer.region_bytes &&
         offer.region_bytes >= region_header_bytes;
}

constexpr Status untrusted(const char* what) noexcept {
  return {Code::peer_lost, what};
}

/// Regions of this process, idle ones too.
std::atomic<std::size_t> live_regions{0};
std::atomic<std::size_t> live_bytes{0};

}  // namespace

Descriptor::~Descriptor() {
  if (number_ >= 0) close(number_);
}

Status Region::make(std::size_t capacity, std::unique_ptr<Region>& region) {
  const std::size_t bytes = region_header_bytes + capacity;
  Descriptor file(memfd_create("penstock", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.number() < 0) return system_status("memfd_create");
  if (fallocate(file.number(), 0, 0, static_cast<off_t>(bytes)) != 0) return system_status("fallocate");
  if (fcntl(file.number(), F_ADD_SEALS, seals) != 0) return system_status("fcntl(F_ADD_SEALS)");
  HostMapping mapping(bytes, file.number());
  if (!mapping) return system_status("mmap");
  region = std::make_unique<Region>(std::move(file), std::move(mapping));
  return {};
}

Region::Region(Descriptor descriptor, HostMapping mapping) noexcept
    : descriptor_(std::move(descriptor)), mapped_(std::move(mapping)) {
  live_regions.fetch_add(1, std::memory_order_relaxed);
  live_bytes.fetch_add(mapped_.bytes(), std::memory_order_relaxed);
  static std::atomic<std::uint64_t> regions{0};
  number_ = regions.fetch_add(1, std::memory_order_relaxed) + 1;
  auto* header = new (&mapped_.header()) RegionHeader{};
  header->magic = region_magic;
  header->process_nonce = this_process().nonce;
  header->region_bytes = mapped_.bytes();
}

Region::~Region() {
  live_regions.fetch_sub(1, std::memory_order_relaxed);
  live_bytes.fetch_sub(mapped_.bytes(), std::memory_order_relaxed);
}

bool Region::may_set_aside(std::size_t capacity) noexcept {
  static const std::size_t most_bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                        static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 16;
  rlimit descriptors{};
  if (getrlimit(RLIMIT_NOFILE, &descriptors) != 0) return false;
  const std::size_t used_bytes = live_bytes.load(std::memory_order_relaxed);
  return live_regions.load(std::memory_order_relaxed) < descriptors.rlim_cur / 4 && used_bytes < most_bytes &&
         capacity <= most_bytes - used_bytes;
}

void Region::begin(std::uint64_t payload_bytes, Offer& offer) noexcept {
  RegionHeader& header = mapped_.header();
  payload_bytes_ = payload_bytes;
  ++uses_;
  header.produced.store(0, std::memory_order_relaxed);
  header.consumed.store(0, std::memory_order_relaxed);
  header.receiver_id.store(0, std::memory_order_relaxed);
  header.wanted.store(0, std::memory_order_relaxed);
  const std::uint64_t ticket = number_ << 32 | uses_;
  header.ticket.store(ticket, std::memory_order_release);
  offer.region_descriptor = descriptor_.number();
  offer.region_id = ticket;
  offer.region_bytes = mapped_.bytes();
  offer.ring_bytes = 0;
}

Status Region::begin(std::uint64_t payload_bytes, cuda::RelaySlice memory, Offer& offer) {
  Offer relayed = offer;
  begin(payload_bytes, relayed);
  if (Status described = describe_ring(memory.buffer(), memory.bytes(), relayed); !described.ok())
    return described;
  device_memory_ = std::move(memory);
  offer = relayed;
  return {};
}

Ring Region::ring() const noexcept {
  if (!device_memory_) return mapped_.ring();
  return {static_cast<char*>(device_memory_.buffer().pointer), device_memory_.bytes(), Side::device};
}

bool Region::is_drained() const noexcept {
  const std::uint64_t consumed = mapped_.header().consumed.load(std::memory_order_acquire);
  return consumed == payload_bytes_ || consumed == gave_up;
}

bool Region::lost_its_receiver() const noexcept {
  const RegionHeader& header = mapped_.header();
  const std::int64_t receiver = header.receiver_id.load(std::memory_order_acquire);
  return receiver != 0 && !is_alive({receiver, header.receiver_nonce.load(std::memory_order_relaxed)});
}

Status open_region(const Offer& offer, std::shared_ptr<MappedRegion>& region) {
  if (offer.region_descriptor < 0 || offer.process_id <= 0) return untrusted("sender's offer");
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%lld/fd/%d", static_cast<long long>(offer.process_id),
                static_cast<int>(offer.region_descriptor));
  // looked at before it is opened: the number may meanwhile mean something that opening would disturb
  struct stat file {};
  if (stat(path, &file) != 0)
    return errno == EACCES ? system_status("stat(/proc)") : untrusted("sender's process");
  if (!is_what_was_offered(file, offer)) return untrusted("sender's staging region");
  const Descriptor opened(open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK));
  if (opened.number() < 0)
    return errno == ENOENT ? untrusted("sender's process") : system_status("open(/proc)");
  if (fstat(opened.number(), &file) != 0 || !is_what_was_offered(file, offer) ||
      (fcntl(opened.number(), F_GET_SEALS) & seals) != seals) {
    return untrusted("sender's staging region");
  }
  HostMapping mapping(offer.region_bytes, opened.number());
  if (!mapping) return system_status("mmap");
  auto mapped = std::make_shared<MappedRegion>(std::move(mapping));
  const RegionHeader& header = mapped->header();
  if (header.magic != region_magic || header.process_nonce != offer.process_nonce ||
      header.region_bytes != offer.region_bytes) {
    return untrusted("sender's staging region");
  }
  region = std::move(mapped);
  return {};
}

}  // namespace penstock::transports
