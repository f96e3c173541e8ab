#include "interpose/staging/host_memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <bit>
#include <mutex>
#include <utility>

namespace penstock::interpose {
namespace {

constexpr unsigned smallest_class = 16;  // 64 KiB
constexpr unsigned largest_kept_class = 28;
constexpr std::size_t page_bytes = 4096;
constexpr std::size_t kept_each = 2;  ///< free pieces of a class, as a call has two buffers

/// Holds free pieces by size class. Never destroyed, as calls may end after static destructors have run.
class Pool {
 public:
  std::byte* take(unsigned size_class) noexcept {
    if (size_class > largest_kept_class) return nullptr;
    const std::lock_guard guard(lock_);
    for (std::byte*& piece : free_[size_class]) {
      if (piece != nullptr) return std::exchange(piece, nullptr);
    }
    return nullptr;
  }

  /// Returns false if there is no room; the caller then unmaps the piece.
  bool keep(std::byte* piece, unsigned size_class) noexcept {
    if (size_class > largest_kept_class) return false;
    const std::lock_guard guard(lock_);
    for (std::byte*& place : free_[size_class]) {
      if (place != nullptr) continue;
      place = piece;
      return true;
    }
    return false;
  }

 private:
  std::mutex lock_;
  std::array<std::array<std::byte*, kept_each>, largest_kept_class + 1> free_{};
};

Pool& pool() noexcept {
  static Pool& made = *new Pool;
  return made;
}

/// Returns the smallest class that has that many bytes.
unsigned size_class_of(std::size_t bytes) noexcept {
  return std::max(smallest_class, static_cast<unsigned>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1)));
}

}  // namespace

HostMemory HostMemory::take(std::size_t bytes) noexcept {
  const unsigned size_class = size_class_of(bytes);
  if (std::byte* const piece = pool().take(size_class)) return {piece, std::size_t{1} << size_class};
  // A piece that will not be kept has no more than the needed bytes: absolute addresses of host and device
  // memory may be a third of the address space apart, and few gaps there are larger.
  const std::size_t needed = size_class > largest_kept_class
                                 ? (bytes + page_bytes - 1) / page_bytes * page_bytes
                                 : std::size_t{1} << size_class;
  void* const mapped =
      ::mmap(nullptr, needed, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return {};
  return {static_cast<std::byte*>(mapped), needed};
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(bytes_, other.bytes_);
  return *this;
}

HostMemory::~HostMemory() {
  if (data_ != nullptr && !pool().keep(data_, size_class_of(bytes_))) ::munmap(data_, bytes_);
}

}  // namespace penstock::interpose
