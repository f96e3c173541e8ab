#include "address_space.hpp"

#include <sys/mman.h>

#include "call.hpp"

namespace simulated_gpu {

AddressSpace& AddressSpace::instance() {
  static AddressSpace& only = *new AddressSpace;
  return only;
}

AddressSpace::AddressSpace() {
  void* reserved =
      mmap(nullptr, 2 * half_bytes + granule, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  require(reserved != MAP_FAILED, CUDA_ERROR_OUT_OF_MEMORY);
  base_ = (reinterpret_cast<Address>(reserved) + granule - 1) / granule * granule;
  free_[base_] = half_bytes;
}

Address AddressSpace::reserve(std::size_t bytes, std::size_t alignment) {
  const std::scoped_lock lock(mutex_);
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    const auto [start, size] = *range;
    const Address address = (start + alignment - 1) / alignment * alignment;
    const std::size_t skipped = address - start;
    if (skipped + bytes > size) continue;
    free_.erase(range);
    if (skipped > 0) free_[start] = skipped;
    if (const std::size_t rest = size - skipped - bytes; rest > 0) free_[address + bytes] = rest;
    return address;
  }
  throw Failure(CUDA_ERROR_OUT_OF_MEMORY);
}

void AddressSpace::release(Address address, std::size_t bytes) noexcept {
  const std::scoped_lock lock(mutex_);
  auto next = free_.lower_bound(address);
  if (next != free_.end() && next->first == address + bytes) {
    bytes += next->second;
    next = free_.erase(next);
  }
  if (next != free_.begin()) {
    const auto before = std::prev(next);
    if (before->first + before->second == address) {
      before->second += bytes;
      return;
    }
  }
  free_[address] = bytes;
}

void AddressSpace::map(Address address, int file, std::size_t offset, std::size_t bytes) {
  void* at = mmap(mapped(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                  static_cast<off_t>(offset));
  require(at != MAP_FAILED, CUDA_ERROR_MAP_FAILED);
}

void AddressSpace::unmap(Address address, std::size_t bytes) noexcept {
  mmap(mapped(address), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
}

}  // namespace simulated_gpu
