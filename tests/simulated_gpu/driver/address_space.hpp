// Device addresses. One reservation of address space has two halves: the first holds the addresses that
// programs see and is never mapped, so a host that touches device memory gets SIGSEGV, at any time; the
// second, at a fixed distance, is where the memory behind them is really mapped, for copies and kernels.
// Knows no allocation.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>

namespace simulated_gpu {

using Address = std::uint64_t;

class AddressSpace {
 public:
  /// Of the process; never destroyed.
  static AddressSpace& instance();

  /// Takes `bytes` (a multiple of `granule`) of addresses, the lowest free ones.
  /// Fails with CUDA_ERROR_OUT_OF_MEMORY.
  Address reserve(std::size_t bytes, std::size_t alignment);
  void release(Address address, std::size_t bytes) noexcept;

  /// Puts the file's bytes behind the addresses, or takes them away.
  void map(Address address, int file, std::size_t offset, std::size_t bytes);
  void unmap(Address address, std::size_t bytes) noexcept;

  [[nodiscard]] bool contains(Address address) const noexcept { return address - base_ < half_bytes; }
  /// Where the memory behind a device address is mapped.
  [[nodiscard]] static std::byte* mapped(Address address) noexcept {
    return reinterpret_cast<std::byte*>(address + half_bytes);
  }
  /// The device address of an address that came from `mapped`; any other unchanged.
  [[nodiscard]] Address visible(Address address) const noexcept {
    return contains(address - half_bytes) ? address - half_bytes : address;
  }

  static constexpr std::size_t granule = std::size_t{2} << 20;

 private:
  AddressSpace();

  static constexpr std::size_t half_bytes = std::size_t{1} << 38;
  Address base_ = 0;
  std::mutex mutex_;
  std::map<Address, std::size_t> free_;
};

}  // namespace simulated_gpu
