// Device memory as PyTorch's expandable segments make it: one range of addresses, mapped to many chunks of
// physical memory, none of which a single IPC handle covers. Uses the CUDA driver API; knows neither MPI nor
// Penstock.
#pragma once

#include <cstddef>

namespace penstock::test_support {

/// A range of at least `bytes` on the device, its chunks as small as the device allows, for that device only.
/// Errors: a line, and the process aborts.
[[nodiscard]] void* map_virtual_memory(std::size_t bytes, int device);
/// With the same size and device.
void unmap_virtual_memory(void* pointer, std::size_t bytes, int device);

}  // namespace penstock::test_support
