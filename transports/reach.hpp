// Whether and how this process reaches memory of a sender's device by CUDA IPC: what the transports `peer`
// and `relayed` have in common. Where a device is hidden from this process by CUDA_VISIBLE_DEVICES, IPC may
// work all the same: it is tried, and a refusal remembered. Knows no copies.
#pragma once

#include <memory>

#include "transports/cuda/context.hpp"
#include "transports/cuda/ipc_cache.hpp"
#include "transports/host/process.hpp"
#include "transports/memory/buffer.hpp"
#include "transports/regions/offer.hpp"
#include "transports/transport.hpp"

namespace penstock::transports {

[[nodiscard]] inline ProcessIdentity sender_of(const Offer& offer) noexcept {
  return {offer.process_id, offer.process_nonce};
}

/// Driver ordinal; -1 if this process does not see the device.
[[nodiscard]] int sender_device(const Offer& offer);

/// Where copies from the sender's device are done: device memory is copied into by its own context, host
/// memory by one on the sender's device if there is one. Null if the process has none. As Context::of().
[[nodiscard]] const cuda::ContextRef& context_to_reach(const Offer& offer, const Place& destination);

/// By the two devices alone, and what the driver has said of them before. Not for the own process.
[[nodiscard]] Verdict judge_reach(const Offer& offer, const Place& destination);

/// The memory that an offer names, as this process addresses it.
struct ReachedMemory {
  CUdeviceptr first = 0;  ///< where the offer's `address` lies
  std::shared_ptr<const cuda::MappedRange> mapped;
};

/// Maps it, or finds it mapped; `bytes` from the offer's address are to be used. `declined` where the driver
/// refuses. Thread: any.
[[nodiscard]] Status reach(const Offer& offer, std::uint64_t bytes, const cuda::ContextRef& context,
                           ReachedMemory& memory);

}  // namespace penstock::transports
