// The GPUs that this process sees, by UUID, and which of them can read each other's memory. Makes no context.
#pragma once

#include <array>
#include <cstdint>
#include <string>

namespace penstock::transports::cuda {

using Uuid = std::array<std::uint8_t, 16>;
/// The UUID as nvidia-smi and CUDA_VISIBLE_DEVICES spell it.
[[nodiscard]] std::string text_of(const Uuid& uuid);

/// All zero if the device is unknown. Thread: any. Cost: a table look-up after the first call.
[[nodiscard]] Uuid uuid_of(int device);

/// Driver ordinal; -1 if this process does not see the device (CUDA_VISIBLE_DEVICES).
[[nodiscard]] int device_of(const Uuid& uuid);

/// May kernels of the device use managed memory while the CPU uses other managed memory?
[[nodiscard]] bool has_concurrent_managed_access(int device);

/// Can `device` map memory of `peer`? True for itself.
[[nodiscard]] bool can_access(int device, int peer);

/// Is there NVLink between the two? False for one device, and where the
/// driver cannot tell. Source: atomics between devices, which PCIe does not carry.
[[nodiscard]] bool has_nvlink(int device, int peer);
/// To any other that this process sees.
[[nodiscard]] bool has_nvlink(int device);

/// What lies between the memories of two devices.
enum class Link : std::uint8_t {
  nvlink,
  pcie,  ///< peer access without NVLink
  same_device,
  none,  ///< no peer access
};
/// A device that this process does not see (-1) counts as one that is reached over PCIe: the careful guess.
[[nodiscard]] Link link_between(int device, int peer);
/// By which a sender that does not know its receiver may hope to be read. NVLink where this process sees no
/// other device: what is cut for NVLink costs little over PCIe, the reverse costs more.
[[nodiscard]] Link best_link_of(int device);

}  // namespace penstock::transports::cuda
