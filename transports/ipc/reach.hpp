// Maps memory of a sender's device into this process by CUDA IPC, or reports why that is impossible, for the
// transports `peer` and `relayed` and for pushes. IPC may work even if CUDA_VISIBLE_DEVICES hides the device
// from this process: it is tried, and a refusal is remembered. Knows no copies.
#pragma once

#include <memory>

#include "transports/device_memory/ipc_cache.hpp"
#include "transports/payload.hpp"

namespace penstock::transports {

/// Judges whether the memory can be reached, from the two devices and earlier refusals of the driver alone,
/// once for each payload. Not for the own process. Errors: std::bad_alloc.
[[nodiscard]] const Verdict& judge_reach(const Payload& payload);

/// The memory that an offer names, as this process addresses it.
struct ReachedMemory {
  CUdeviceptr first = 0;  ///< where the offer's `address` lies
  std::shared_ptr<const cuda::MappedRange> mapped;
};

/// Maps the memory or finds it mapped; the caller may use `bytes` from the offer's address on. Errors:
/// `declined` if the driver refuses or the process has no context. Thread: any.
[[nodiscard]] Status reach(const Payload& payload, std::uint64_t bytes, ReachedMemory& memory);

/// Returns true if the memory is mapped already.
[[nodiscard]] bool is_reached(const Payload& payload);

}  // namespace penstock::transports
