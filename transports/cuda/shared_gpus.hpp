// Does another process use this GPU? Kernels of two processes take turns there, for a third of a millisecond
// and more each, while copy engines serve both at once. Knows no kernel.
#pragma once

#include <cstdint>

#include "transports/cuda/context.hpp"
#include "transports/memory/buffer.hpp"

namespace penstock::transports {

/// `is_shared(id of a GPU)` says whether another process uses it, too; then no kernel of ours copies there.
/// Null, as at the start: none is shared. Thread: any.
void set_shared_gpu_check(bool (*is_shared)(std::uint64_t gpu)) noexcept;

/// What it says of the context's GPU. Thread: any. Cost: a load; now and then the question.
[[nodiscard]] bool is_on_shared_gpu(const cuda::Context& context) noexcept;
/// The same of what lies on a device. Cost: a look for its context as well; of an address, a question to the
/// driver, too.
[[nodiscard]] bool is_on_shared_gpu(const Buffer& buffer) noexcept;
[[nodiscard]] bool is_on_shared_gpu(const void* device_memory) noexcept;

}  // namespace penstock::transports
