// The GPUs that this process sees, by UUID, and which of them can read each other's memory. Makes no context.
#pragma once

#include <array>
#include <cstdint>

namespace penstock::transports::cuda {

using Uuid = std::array<std::uint8_t, 16>;

/// All zero if the device is unknown. Thread: any. Cost: a table look-up after the first call.
[[nodiscard]] Uuid uuid_of(int device);

/// Driver ordinal; -1 if this process does not see the device (CUDA_VISIBLE_DEVICES).
[[nodiscard]] int device_of(const Uuid& uuid);

/// Can `device` map memory of `peer`? True for itself.
[[nodiscard]] bool can_access(int device, int peer);

/// Is there NVLink between the two, so that PCIe is free beside it? False for one device, and where the
/// driver cannot tell. Source: atomics between devices, which PCIe does not carry.
[[nodiscard]] bool has_nvlink(int device, int peer);
/// To any other that this process sees.
[[nodiscard]] bool has_nvlink(int device);

}  // namespace penstock::transports::cuda
