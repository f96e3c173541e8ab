// The GPUs that this process sees: of the machine's, CUDA_VISIBLE_DEVICES picks, by number or UUID;
// SIMULATED_GPU_MEMORY_MIB is the memory of each (default 8192). Knows neither contexts nor allocations.
#pragma once

#include <cuda.h>

#include <atomic>
#include <cstddef>
#include <string>
#include <vector>

namespace simulated_gpu {

/// One visible GPU. `number` counts the machine's, the ordinal those that are visible.
struct Device {
  int ordinal = 0;
  int number = 0;
  CUuuid uuid{};
  std::string name;
  std::string pci_bus_id;
  std::size_t memory_bytes = 0;
  std::atomic<std::size_t> used_bytes{0};  ///< by this process

  /// Takes or returns memory; fails with CUDA_ERROR_OUT_OF_MEMORY.
  void take(std::size_t bytes);
  void give_back(std::size_t bytes) noexcept;
};

[[nodiscard]] int device_count();
/// Fails with CUDA_ERROR_INVALID_DEVICE.
[[nodiscard]] Device& device_at(int ordinal);

}  // namespace simulated_gpu
