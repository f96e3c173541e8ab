// The GPUs that this process sees, by UUID, and which of them can read each other's memory. Makes no context.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace penstock::transports::cuda {

using Uuid = std::array<std::uint8_t, 16>;
/// Returns the UUID as nvidia-smi and CUDA_VISIBLE_DEVICES spell it.
[[nodiscard]] std::string text_of(const Uuid& uuid);

/// Returns all zeros if the device is unknown. Thread: any. Cost: a table look-up after the first call.
[[nodiscard]] Uuid uuid_of(int device);

/// Returns the driver ordinal; -1 if this process does not see the device (CUDA_VISIBLE_DEVICES).
[[nodiscard]] int device_of(const Uuid& uuid);

/// Returns whether kernels of the device may use managed memory while the CPU uses other managed memory.
[[nodiscard]] bool has_concurrent_managed_access(int device);

/// Returns whether `device` can map memory of `peer`. True for itself.
[[nodiscard]] bool can_access(int device, int peer);

/// Returns whether NVLink connects the two. False for one device, and if the driver cannot tell. Source:
/// atomics between devices, which PCIe does not carry.
[[nodiscard]] bool has_nvlink(int device, int peer);
/// Returns whether NVLink connects the device to any other that this process sees.
[[nodiscard]] bool has_nvlink(int device);

/// The connection between the memories of two devices.
enum class Link : std::uint8_t {
  nvlink,
  pcie,  ///< peer access without NVLink
  same_device,
  none,  ///< no peer access
};
/// Returns the link between two devices. For a device that this process does not see (-1) it is PCIe: the
/// careful guess.
[[nodiscard]] Link link_between(int device, int peer);
/// Returns the link that a sender assumes before it knows its receiver. NVLink if this process sees no other
/// device: chunks for NVLink cost little over PCIe, the reverse costs more.
[[nodiscard]] Link best_link_of(int device);

}  // namespace penstock::transports::cuda
