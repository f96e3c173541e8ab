#include "transports/refusals.hpp"

#include "transports/cuda/kernels.hpp"
#include "transports/device_memory/pinned_memory.hpp"

namespace penstock::transports {

Refusal take_refusal() noexcept {
  if (const Status pinning = cuda::Registration::take_refusal(); !pinning.ok())
    return {"staged payloads are slower, as nothing is pinned", pinning};
  return {"small payloads are slower, as no kernels can be loaded", cuda::Kernels::take_refusal()};
}

}  // namespace penstock::transports
