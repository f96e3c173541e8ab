// Checks whether the host can touch an address at all. The driver no longer knows device memory that was
// freed, and a CPU that touches it crashes: with this check a message from a dangling device pointer fails
// instead.
#pragma once

namespace penstock::transports::cuda {

/// Returns whether the host may touch an address that the driver does not know. Wrong in one case, which then
/// crashes as it does without Penstock: host memory that was seen here and unmapped, and whose addresses
/// device memory then took and left again, without note_device_address(). Thread: any. Cost: a few ns for the
/// 2 MiB around an address seen before; else a system call.
[[nodiscard]] bool host_can_access(const void* pointer) noexcept;
/// Called when an address is seen to be device memory. Thread: any. Cost: a load.
void note_device_address(const void* pointer) noexcept;

}  // namespace penstock::transports::cuda
