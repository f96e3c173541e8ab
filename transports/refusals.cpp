#include "transports/refusals.hpp"

#include "transports/cuda/kernels.hpp"
#include "transports/device_memory/pinned_memory.hpp"

namespace penstock::transports {

Refusal take_refusal() noexcept {
  if (const Status pinning = cuda::Registration::take_refusal(); !pinning.ok())
    return {"staging is slower, as host memory cannot be pinned", pinning};
  return {"small messages are slower, as Penstock's CUDA kernels cannot be loaded",
          cuda::Kernels::take_refusal()};
}

}  // namespace penstock::transports
