// Reports whether CUDA is in this process, without loading libcuda or initialising it.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace penstock::record {

#ifdef PENSTOCK_SIMULATED_GPU
inline constexpr bool gpu_is_simulated = true;
#else
inline constexpr bool gpu_is_simulated = false;
#endif

[[nodiscard]] bool cuda_is_loaded() noexcept;
[[nodiscard]] bool cuda_is_initialised() noexcept;

struct CudaDevice {
  int ordinal;
  char pci_bus_id[16];
};
/// Returns the devices whose primary context, the one of the CUDA runtime, is in use. Makes none. Errors:
/// std::bad_alloc.
[[nodiscard]] std::vector<CudaDevice> cuda_devices_in_use();

/// Returns the number of devices that CUDA shows to this process; 0 if it was not initialised.
[[nodiscard]] int visible_cuda_devices() noexcept;

/// Returns the UUID of a device, or of the part of one that the process has (MIG), in hexadecimal digits;
/// empty if the driver does not tell it. Errors: std::bad_alloc.
[[nodiscard]] std::string identity_of(const CudaDevice& device);

/// Copies the name of the device of the calling thread's context, or else of device 0; nothing if CUDA was
/// not initialised.
void copy_device_name(char* name, std::size_t size) noexcept;

}  // namespace penstock::record
