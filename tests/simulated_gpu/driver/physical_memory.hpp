// Memory of a simulated GPU: an anonymous file, which other processes can map through /proc/<pid>/fd/<n> and
// which is gone with the last process that holds it, however that ended. Knows neither addresses nor
// allocations.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "device.hpp"

namespace simulated_gpu {

/// Owns: the descriptor, and its bytes of the device's memory.
class PhysicalMemory {
 public:
  /// Fails with CUDA_ERROR_OUT_OF_MEMORY.
  PhysicalMemory(Device& device, std::size_t bytes);
  /// Takes over a descriptor that came from another process; not counted as the device's.
  PhysicalMemory(Device& device, int file, std::size_t bytes) noexcept;
  ~PhysicalMemory();
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  [[nodiscard]] Device& device() const noexcept { return device_; }
  [[nodiscard]] int file() const noexcept { return file_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }

 private:
  Device& device_;
  int file_ = -1;
  std::size_t bytes_;
  bool counted_;
};

/// Opens the descriptor `file` of another process, if it is still the file with that inode number; else -1.
[[nodiscard]] int open_file_of(std::int64_t process, int file, std::uint64_t inode) noexcept;
[[nodiscard]] std::uint64_t inode_of(int file) noexcept;

}  // namespace simulated_gpu
