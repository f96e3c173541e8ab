// Whether and how this process reaches memory of a sender's device by CUDA IPC: what the transports `peer`
// and `relayed` have in common. Where a device is hidden from this process by CUDA_VISIBLE_DEVICES, IPC may
// work all the same: it is tried, and a refusal remembered. Knows no copies.
#pragma once

#include <memory>

#include "transports/cuda/devices.hpp"
#include "transports/device_memory/ipc_cache.hpp"
#include "transports/host/process.hpp"
#include "transports/payload.hpp"

namespace penstock::transports {

[[nodiscard]] inline ProcessIdentity sender_of(const Offer& offer) noexcept {
  return {offer.process_id, offer.process_nonce};
}
[[nodiscard]] cuda::Uuid device_of(const Offer& offer) noexcept;

/// Whether the memory can be reached, judged by the two devices alone and what the driver has said of them
/// before. Not for the own process.
[[nodiscard]] Verdict judge_reach(const Payload& payload);

/// The memory that an offer names, as this process addresses it.
struct ReachedMemory {
  CUdeviceptr first = 0;  ///< where the offer's `address` lies
  std::shared_ptr<const cuda::MappedRange> mapped;
};

/// Maps it, or finds it mapped; `bytes` from the offer's address are to be used. `declined` where the driver
/// refuses, or the process has no context. Thread: any.
[[nodiscard]] Status reach(const Payload& payload, std::uint64_t bytes, ReachedMemory& memory);

}  // namespace penstock::transports
