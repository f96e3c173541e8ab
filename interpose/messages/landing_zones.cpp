#include "interpose/messages/landing_zones.hpp"

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
constexpr std::size_t kept_resident_bytes = 64 * 1024;  ///< of a zone that was touched; the rest goes back
constexpr std::size_t kept_of_a_size = 64;

/// Free zones by power of two of their size; an index counts from smallest_bytes.
struct Pool {
  struct Shelf {
    std::array<void*, kept_of_a_size> zones{};
    std::size_t count = 0;
  };
  transports::CallersMutex mutex;
  std::array<Shelf, 48> shelves;

  Shelf& shelf_of(std::size_t bytes) noexcept {
    const auto index = static_cast<std::size_t>(std::countr_zero(bytes) - std::countr_zero(smallest_bytes));
    return shelves[index];
  }
};

Pool& pool() noexcept {
  static Pool instance;
  return instance;
}

}  // namespace

LandingZone::LandingZone(std::size_t bytes) noexcept {
  if (bytes > (std::size_t{1} << 46)) return;
  const std::size_t size = std::bit_ceil(std::max(bytes, smallest_bytes));
  {
    const std::lock_guard lock(pool().mutex);
    Pool::Shelf& shelf = pool().shelf_of(size);
    if (shelf.count > 0) data_ = shelf.zones[--shelf.count];
  }
  if (data_ == nullptr) {
    void* mapped =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapped == MAP_FAILED) return;
    data_ = mapped;
  }
  mapped_bytes_ = size;
}

LandingZone::~LandingZone() {
  if (data_ == nullptr) return;
  if (std::min(mapped_bytes_, written_bytes_) > kept_resident_bytes) {
    ::madvise(static_cast<char*>(data_) + kept_resident_bytes, mapped_bytes_ - kept_resident_bytes,
              MADV_DONTNEED);
  }
  {
    const std::lock_guard lock(pool().mutex);
    Pool::Shelf& shelf = pool().shelf_of(mapped_bytes_);
    if (shelf.count < kept_of_a_size) {
      shelf.zones[shelf.count++] = data_;
      return;
    }
  }
  ::munmap(data_, mapped_bytes_);
}

LandingZone::LandingZone(LandingZone&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      mapped_bytes_(std::exchange(other.mapped_bytes_, 0)),
      written_bytes_(other.written_bytes_) {}

LandingZone& LandingZone::operator=(LandingZone&& other) noexcept {
  std::swap(data_, other.data_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(written_bytes_, other.written_bytes_);
  return *this;
}

void drop_landing_zones() noexcept {
  const std::lock_guard lock(pool().mutex);
  std::size_t size = smallest_bytes;
  for (Pool::Shelf& shelf : pool().shelves) {
    while (shelf.count > 0) ::munmap(shelf.zones[--shelf.count], size);
    size *= 2;
  }
}

}  // namespace penstock::interpose
