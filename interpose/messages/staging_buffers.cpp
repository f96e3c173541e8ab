#include "interpose/messages/staging_buffers.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <new>
#include <utility>

#include "transports/host/callers_mutex.hpp"

namespace penstock::interpose {
namespace {

constexpr std::size_t smallest_bytes = 4096;
constexpr std::size_t largest_bytes = std::size_t{1} << 46;
/// Some buffers of a size are kept however large they are, more of them while all together take little
/// address space. A step may receive hundreds of messages, and mapping their buffers anew took as long as the
/// messages: with 64 kept, 256 messages of 1 KiB at once took 1.3 to 2.4 ms on two H200, instead of 0.77.
constexpr std::size_t least_kept_of_a_size = 64;
constexpr std::size_t kept_bytes_of_a_size = std::size_t{256} << 20;
/// What was written beyond this in a buffer is released, as that is memory.
constexpr std::size_t kept_resident_bytes = 64 * 1024;
/// Free buffers of a size hold no more memory than this, and a page each, which envelopes use. A buffer that
/// is used again costs a page fault (2.8 µs on a VM) for each page that was released.
constexpr std::size_t kept_resident_bytes_of_a_size = least_kept_of_a_size * kept_resident_bytes;

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
  class Shelf {
   public:
    /// Returns null if there is none. Sets how many bytes at its beginning are resident.
    [[nodiscard]] void* take(std::size_t& resident_bytes) noexcept {
      if (first_ == nullptr) return nullptr;
      --count_;
      resident_bytes = first_->resident_bytes;
      resident_bytes_ -= resident_bytes;
      return std::exchange(first_, first_->next);
    }
    [[nodiscard]] bool has_room_for(std::size_t bytes) const noexcept {
      return count_ < least_kept_of_a_size || count_ * bytes < kept_bytes_of_a_size;
    }
    /// Returns how many bytes at the beginning of a buffer, of which so many are resident, may stay so.
    [[nodiscard]] std::size_t resident_bytes_for(std::size_t touched_bytes) const noexcept {
      const std::size_t kept = std::min(touched_bytes, kept_resident_bytes);
      return kept <= kept_resident_bytes_of_a_size - resident_bytes_ ? kept : 0;
    }
    void put(void* buffer, std::size_t bytes, std::size_t resident_bytes) noexcept {
      first_ = new (buffer) Free{first_, resident_bytes};
      bytes_ = bytes;
      resident_bytes_ += resident_bytes;
      ++count_;
    }
    /// Of each buffer, once there is one.
    [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

   private:
    /// Lies in the buffer itself, whose first page envelopes have touched anyway.
    struct Free {
      Free* next;
      std::size_t resident_bytes;  ///< that count among the shelf's
    };
    Free* first_ = nullptr;
    std::size_t count_ = 0;
    std::size_t bytes_ = 0;
    std::size_t resident_bytes_ = 0;
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
    data_ = pool().shelves[size.index].take(resident_bytes_);
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
  const std::lock_guard lock(pool().mutex);
  Pool::Shelf& shelf = pool().shelves[SizeClass::of(mapped_bytes_).index];
  if (!shelf.has_room_for(mapped_bytes_)) {
    ::munmap(data_, mapped_bytes_);
    return;
  }
  const std::size_t touched_bytes = std::max(resident_bytes_, std::min(mapped_bytes_, written_bytes_));
  const std::size_t kept_bytes = shelf.resident_bytes_for(touched_bytes);
  if (const std::size_t from = std::max(kept_bytes, smallest_bytes); touched_bytes > from)
    ::madvise(static_cast<char*>(data_) + from, mapped_bytes_ - from, MADV_DONTNEED);
  shelf.put(data_, mapped_bytes_, kept_bytes);
}

StagingBuffer::StagingBuffer(StagingBuffer&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      resident_bytes_(std::exchange(other.resident_bytes_, 0)),
      written_bytes_(other.written_bytes_) {}

StagingBuffer& StagingBuffer::operator=(StagingBuffer&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(resident_bytes_, other.resident_bytes_);
  std::swap(written_bytes_, other.written_bytes_);
  return *this;
}

void drop_staging_buffers() noexcept {
  const std::lock_guard lock(pool().mutex);
  for (Pool::Shelf& shelf : pool().shelves) {
    std::size_t resident_bytes = 0;
    while (void* const buffer = shelf.take(resident_bytes)) ::munmap(buffer, shelf.bytes());
  }
}

}  // namespace penstock::interpose
