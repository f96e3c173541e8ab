#include "interpose/record/file/recording_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "interpose/record/recorder.hpp"
#include "transports/host/retried.hpp"

namespace penstock::record {

namespace {

constexpr std::uint64_t offset_of_block(std::uint64_t index) noexcept {
  return trace::file_header_bytes + index * trace::block_bytes;
}

/// Maps the pages at once, as otherwise MPI calls would have a page fault for every 64 records. Kernels
/// before 5.14 do not support it; the pages are then mapped one by one. If pages have 64 KiB (aarch64),
/// blocks begin 4 KiB into one.
int populate(std::byte* begin, std::uint64_t bytes) noexcept {
#ifdef MADV_POPULATE_WRITE
  static const auto page_bytes = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  const std::uint64_t before = reinterpret_cast<std::uintptr_t>(begin) % page_bytes;
  const auto bring = [&] { return madvise(begin - before, bytes + before, MADV_POPULATE_WRITE); };
  if (retried(bring) != 0 && errno != EINVAL) return errno;
#else
  (void)begin, (void)bytes;
#endif
  return 0;
}

void raise_to(std::uint64_t& field, std::uint64_t value) noexcept {
  std::atomic_ref<std::uint64_t> shared(field);
  std::uint64_t seen = shared.load(std::memory_order_relaxed);
  while (seen < value && !shared.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

int RecordingFile::create(const char* path, std::uint64_t limit_bytes) noexcept {
  if (limit_bytes < offset_of_block(1)) return EFBIG;
  const std::uint64_t block_limit = (limit_bytes - trace::file_header_bytes) / trace::block_bytes;

  // readable for its owner only, as it holds the command line
  descriptor_ = retried([&] { return open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600); });
  if (descriptor_ < 0) return errno;

  struct stat status {};
  int error = fstat(descriptor_, &status) == 0 ? 0 : errno;
  if (error == 0) error = secure(0, trace::file_header_bytes);
  void* mapping = MAP_FAILED;
  if (error == 0) {
    // The mapping reaches beyond the end of the file; pages become usable as the file grows.
    mapping = mmap(nullptr, offset_of_block(block_limit), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    if (mapping == MAP_FAILED) error = errno;
  }
  if (error != 0) {
    close(descriptor_);
    unlink(path);
    descriptor_ = -1;
    return error;
  }
  mapping_ = static_cast<std::byte*>(mapping);
  block_limit_ = block_limit;
  device_ = status.st_dev;
  inode_ = status.st_ino;
  process_ = getpid();
  return 0;
}

ClaimedBlock RecordingFile::claim_block() noexcept {
  if (!belongs_to_this_process() || !descriptor_is_still_ours()) return {nullptr, Refusal::not_ours, 0};
  const std::uint64_t index = next_block_.fetch_add(1, std::memory_order_acq_rel);
  if (index >= block_limit_) return {nullptr, Refusal::limit, 0};

  std::byte* begin = mapping_ + offset_of_block(index);
  int error = secure(offset_of_block(index), trace::block_bytes);
  if (error == 0) error = populate(begin, trace::block_bytes);
  if (error != 0) return {nullptr, Refusal::no_space, error};
  raise_to(header().claimed_blocks, index + 1);
  return {begin, Refusal::none, 0};
}

void RecordingFile::note_life() noexcept {
  std::atomic_ref<std::uint64_t>(header().alive_ns).store(now_ns(), std::memory_order_relaxed);
}

bool RecordingFile::belongs_to_this_process() const noexcept {
  return process_ == getpid();
}

/// Some programs close all descriptors. Ours may then belong to another file, which must not grow.
bool RecordingFile::descriptor_is_still_ours() const noexcept {
  struct stat status {};
  return fstat(descriptor_, &status) == 0 && status.st_dev == device_ && status.st_ino == inode_;
}

int RecordingFile::secure(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  // Beyond RLIMIT_FSIZE the kernel would send SIGXFSZ, which ends most programs.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY &&
      offset + bytes > limit.rlim_cur) {
    return EFBIG;
  }
  return reserve_space(descriptor_, offset, bytes);
}

}  // namespace penstock::record
