// Counters that the threads of one launch share across its blocks. Only kernels.cu includes this file.
#pragma once

#include <cstdint>

#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports::kernels {
namespace {

/// The counters of the launch that uses the slot; 0 between launches. On a GPU each context has its own.
struct BlockCounters {
  std::uint32_t finished;      ///< blocks that have reached the end
  std::uint32_t begun;         ///< … the beginning
  std::uint32_t has_given_up;  ///< not 0: some thread has (its reasons), so all others may
};
__device__ BlockCounters block_counters[slot_count];

}  // namespace
}  // namespace penstock::transports::kernels
