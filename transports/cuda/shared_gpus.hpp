// Reports whether another process uses a GPU. Kernels of two processes take turns there, for a third of a
// millisecond and more each, while copy engines serve both at once. Knows no kernel.
#pragma once

#include <cstdint>

#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// Sets the function by which a GPU counts as shared: `is_shared(id of a GPU)` returns whether another
/// process uses it, too; no kernel of ours copies there then. Null, the initial value: none is shared.
/// Thread: any.
void set_shared_gpu_check(bool (*is_shared)(std::uint64_t gpu)) noexcept;

/// Returns whether the context's GPU is shared. Thread: any. Cost: a load; now and then a call of that
/// function.
[[nodiscard]] bool is_on_shared_gpu(const cuda::Context& context) noexcept;
/// The same for memory on a device. Cost: a look for its context as well; for an address, a driver query,
/// too.
[[nodiscard]] bool is_on_shared_gpu(const Buffer& buffer) noexcept;
[[nodiscard]] bool is_on_shared_gpu(const void* device_memory) noexcept;

}  // namespace penstock::transports
