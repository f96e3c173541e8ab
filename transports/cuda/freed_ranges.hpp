// Device memory that has been seen and may have been freed since: a host that touches such an address
// crashes, and the driver no longer knows it. Lets a message from a dangling device pointer fail instead.
#pragma once

#include <cuda.h>

#include <cstddef>

namespace penstock::transports::cuda {

/// Remembers an allocation that a message used. Bounded: the oldest is forgotten. Thread: any.
void remember_device_range(CUdeviceptr base, std::size_t bytes) noexcept;

/// For an address that the driver does not know: did it use to be device memory, and can the host not read
/// it? Thread: any. Cost: a few ns unless it lies among remembered ranges; then a system call.
[[nodiscard]] bool is_freed_device_memory(const void* pointer) noexcept;

}  // namespace penstock::transports::cuda
