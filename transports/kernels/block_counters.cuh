// What the threads of one launch tell each other across its blocks. Included by kernels.cu only.
#pragma once

#include <cstdint>

#include "transports/kernels/copy_batch.hpp"

namespace penstock::transports::kernels {
namespace {

/// Of the launch that uses the slot; 0 between launches. On a GPU each context has its own.
struct BlockCounters {
  std::uint32_t finished;      ///< blocks that have come to the end
  std::uint32_t begun;         ///< … to the beginning
  std::uint32_t has_given_up;  ///< 1: some thread has, so all others may
};
__device__ BlockCounters block_counters[slot_count];

}  // namespace
}  // namespace penstock::transports::kernels
