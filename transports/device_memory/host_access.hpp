// Can the host touch an address at all? Device memory that was freed is no longer known to the driver, and a
// CPU that touches it crashes: this lets a message from a dangling device pointer fail instead.
#pragma once

namespace penstock::transports::cuda {

/// Whether the host may touch an address that the driver does not know. Wrong in one case, which then crashes
/// as it does without Penstock: host memory that was seen here, unmapped, and whose addresses device memory
/// took and left again. Thread: any. Cost: a few ns for the 2 MiB around an address seen before; else a
/// system call.
[[nodiscard]] bool host_can_access(const void* pointer) noexcept;

}  // namespace penstock::transports::cuda
