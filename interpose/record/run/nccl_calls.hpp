// Records the calls of NCCL, each of which is a range of its NVTX domain. Knows no kernels: which ones a call
// issued, a reader finds by thread and time.
#pragma once

#include <cstddef>
#include <cstdint>

#include "interpose/record/run/nccl_payload.hpp"

namespace penstock::record {

/// A call begins on the calling thread. `function`: the string id of its name.
void begin_nccl_call(std::uint32_t function, const NcclPayload& payload) noexcept;

/// The thread's innermost call ends. `payload`: what it tells at its end, as those do that make a
/// communicator.
void end_nccl_call(const NcclPayload& payload) noexcept;

}  // namespace penstock::record
