#include "transports/regions/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdio>

#include "transports/host/retried.hpp"

namespace penstock::transports {
namespace {

/// Seals the size: neither side may cut the memory off under the other.
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

Status system_status(const char* call) noexcept {
  const bool memory = errno == ENOMEM || errno == ENOSPC;
  return {memory ? Code::out_of_memory : Code::system_failed, call, errno};
}

constexpr Status untrusted(const char* what) noexcept {
  return {Code::peer_lost, what};
}

/// Returns whether the file is this user's and has the size that was offered.
bool is_what_was_offered(const struct stat& file, const Offer& offer) noexcept {
  return S_ISREG(file.st_mode) && file.st_uid == geteuid() && file.st_size > 0 &&
         static_cast<std::uint64_t>(file.st_size) == offer.region.segment_bytes;
}

std::atomic<std::size_t> open_files{0};
std::atomic<std::size_t> made_bytes{0};

}  // namespace

void Descriptor::close() noexcept {
  if (number_ >= 0) ::close(std::exchange(number_, -1));
}

Segment::Segment(Descriptor descriptor, HostMapping mapping)
    : descriptor_(std::move(descriptor)),
      was_made_here_(descriptor_.number() >= 0),
      memory_(std::move(mapping)) {
  if (!was_made_here_) return;
  open_files.fetch_add(1, std::memory_order_relaxed);
  made_bytes.fetch_add(memory_.bytes(), std::memory_order_relaxed);
}

Segment::~Segment() {
  if (was_made_here_) made_bytes.fetch_sub(memory_.bytes(), std::memory_order_relaxed);
  close_file();
}

void Segment::close_file() noexcept {
  if (descriptor_.number() < 0) return;
  descriptor_.close();
  open_files.fetch_sub(1, std::memory_order_relaxed);
}

std::size_t Segment::files_open() noexcept {
  return open_files.load(std::memory_order_relaxed);
}

std::size_t Segment::made_bytes_now() noexcept {
  return made_bytes.load(std::memory_order_relaxed);
}

Status Segment::make(std::size_t bytes, std::shared_ptr<Segment>& segment) {
  cuda::PinnableMapping::free_unused();
  Descriptor file(memfd_create("penstock", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (file.number() < 0) return system_status("memfd_create");
  errno = reserve_space(file.number(), 0, bytes);
  if (errno != 0) return system_status("posix_fallocate");
  if (fcntl(file.number(), F_ADD_SEALS, seals) != 0) return system_status("fcntl(F_ADD_SEALS)");
  HostMapping mapping(bytes, file.number());
  if (!mapping) return system_status("mmap");
  segment = std::make_shared<Segment>(std::move(file), std::move(mapping));
  return {};
}

Status Segment::open(const Offer& offer, std::shared_ptr<Segment>& segment) {
  cuda::PinnableMapping::free_unused();
  if (offer.region.descriptor < 0 || offer.process_id <= 0) return untrusted("sender's offer");
  char path[64];
  std::snprintf(path, sizeof(path), "/proc/%lld/fd/%d", static_cast<long long>(offer.process_id),
                static_cast<int>(offer.region.descriptor));
  // checked before it is opened: by now the number may mean something that opening would disturb
  struct stat file {};
  if (stat(path, &file) != 0)
    return errno == EACCES ? system_status("stat(/proc)") : untrusted("sender's process");
  if (!is_what_was_offered(file, offer)) return untrusted("sender's staging region");
  const Descriptor opened(retried([&] { return ::open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK); }));
  if (opened.number() < 0)
    return errno == ENOENT ? untrusted("sender's process") : system_status("open(/proc)");
  if (fstat(opened.number(), &file) != 0 || !is_what_was_offered(file, offer) ||
      (fcntl(opened.number(), F_GET_SEALS) & seals) != seals) {
    return untrusted("sender's staging region");
  }
  HostMapping mapping(offer.region.segment_bytes, opened.number());
  if (!mapping) return system_status("mmap");
  segment = std::make_shared<Segment>(Descriptor(-1), std::move(mapping));
  return {};
}

}  // namespace penstock::transports
