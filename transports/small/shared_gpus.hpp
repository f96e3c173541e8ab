// Does another process use this GPU? Kernels of two processes take turns there, for a third of a millisecond
// and more each, while copy engines serve both at once. Knows no kernel.
#pragma once

#include "transports/cuda/context.hpp"

namespace penstock::transports {

/// Thread: any. Cost: a load; now and then the question that set_shared_gpu_check() has set.
[[nodiscard]] bool is_on_shared_gpu(const cuda::Context& context) noexcept;

}  // namespace penstock::transports
