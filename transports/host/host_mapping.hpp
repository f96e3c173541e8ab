// Memory mapped from the kernel and unmapped by its owner's destructor. Knows neither CUDA nor what lies in
// it.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <utility>

namespace penstock::transports {

/// Owns the mapping. A value that can be moved.
class HostMapping {
 public:
  HostMapping() noexcept = default;
  /// Empty (with errno set) if the kernel refuses. `descriptor` -1: private memory of this process.
  HostMapping(std::size_t bytes, int descriptor) noexcept : bytes_(bytes) {
    const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
    void* address = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, descriptor, 0);
    address_ = address == MAP_FAILED ? nullptr : static_cast<char*>(address);
  }
  HostMapping(HostMapping&& other) noexcept
      : address_(std::exchange(other.address_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  HostMapping& operator=(HostMapping&& other) noexcept {
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~HostMapping() {
    if (address_ != nullptr) munmap(address_, bytes_);
  }

  /// Gives up the memory, which stays mapped. Returns its address.
  char* release() noexcept { return std::exchange(address_, nullptr); }

  [[nodiscard]] char* address() const noexcept { return address_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] explicit operator bool() const noexcept { return address_ != nullptr; }

 private:
  char* address_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace penstock::transports
