// Finds addresses that are host memory, without a driver query, as long as the process lives: no CUDA
// allocation can ever lie there. Other host memory may become device memory (munmap, then cudaMalloc), so no
// answer about it is ever remembered.
#pragma once

namespace penstock::transports::cuda {

/// True for the thread's stack in use, the heap that grows by brk, and the writable segments of the program's
/// own image. False means "unknown". Thread: any. Cost: some ns; the first call of a thread reads /proc.
[[nodiscard]] bool is_surely_host(const void* pointer) noexcept;

}  // namespace penstock::transports::cuda
