#include "interpose/messages/staging_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

#include "transports/host/callers_mutex.hpp"

namespace penstock::interpose {
namespace {

constexpr std::size_t smallest_bytes = 4096;
constexpr std::size_t largest_bytes = std::size_t{1} << 46;
constexpr std::size_t kept_resident_bytes = 64 * 1024;  ///< of a touched buffer; the rest is released
constexpr std::size_t kept_of_a_size = 64;

/// Sizes increase by eighths of a power of two, in whole pages. They hardly exceed what is needed, as address
/// space may be limited (ulimit -v), and are few enough for buffers to be reused.
struct SizeClass {
  static constexpr std::size_t eighths = 8;

  std::size_t bytes;
  std::size_t index;

  [[nodiscard]] static constexpr SizeClass of(std::size_t bytes) noexcept {
    bytes = std::max(bytes, smallest_bytes);
    const std::size_t step = std::max(std::bit_floor(bytes) / eighths, smallest_bytes);
    const std::size_t size = (bytes + step - 1) / step * step;
    const std::size_t power = std::bit_floor(size);
    const auto powers = static_cast<std::size_t>(std::countr_zero(power) - std::countr_zero(smallest_bytes));
    return {size, powers * eighths + (size - power) / (power / eighths)};
  }
};

constexpr std::size_t most_shelves = SizeClass::of(largest_bytes).index + 1;

/// Free buffers by size.
struct Pool {
  struct Shelf {
    std::array<void*, kept_of_a_size> buffers{};
    std::size_t count = 0;
    std::size_t bytes = 0;  ///< of each buffer; set with the first
  };
  transports::CallersMutex mutex;
  std::array<Shelf, most_shelves> shelves;
};

Pool& pool() noexcept {
  static Pool instance;
  return instance;
}

void* map(std::size_t bytes) noexcept {
  void* mapped =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return mapped == MAP_FAILED ? nullptr : mapped;
}

}  // namespace

StagingBuffer::StagingBuffer(std::size_t bytes) noexcept {
  if (bytes > largest_bytes) return;
  const SizeClass size = SizeClass::of(bytes);
  {
    const std::lock_guard lock(pool().mutex);
    Pool::Shelf& shelf = pool().shelves[size.index];
    if (shelf.count > 0) data_ = shelf.buffers[--shelf.count];
  }
  if (data_ == nullptr) data_ = map(size.bytes);
  if (data_ == nullptr) {
    // if address space is limited, buffers kept for other sizes may hold the missing part
    drop_staging_buffers();
    data_ = map(size.bytes);
  }
  if (data_ != nullptr) mapped_bytes_ = size.bytes;
}

StagingBuffer::~StagingBuffer() {
  if (data_ == nullptr) return;
  if (std::min(mapped_bytes_, written_bytes_) > kept_resident_bytes) {
    ::madvise(static_cast<char*>(data_) + kept_resident_bytes, mapped_bytes_ - kept_resident_bytes,
              MADV_DONTNEED);
  }
  {
    const std::lock_guard lock(pool().mutex);
    Pool::Shelf& shelf = pool().shelves[SizeClass::of(mapped_bytes_).index];
    if (shelf.count < kept_of_a_size) {
      shelf.bytes = mapped_bytes_;
      shelf.buffers[shelf.count++] = data_;
      return;
    }
  }
  ::munmap(data_, mapped_bytes_);
}

StagingBuffer::StagingBuffer(StagingBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      written_bytes_(other.written_bytes_) {}

StagingBuffer& StagingBuffer::operator=(StagingBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(written_bytes_, other.written_bytes_);
  return *this;
}

void drop_staging_buffers() noexcept {
  const std::lock_guard lock(pool().mutex);
  for (Pool::Shelf& shelf : pool().shelves) {
    while (shelf.count > 0) ::munmap(shelf.buffers[--shelf.count], shelf.bytes);
  }
}

}  // namespace penstock::interpose
