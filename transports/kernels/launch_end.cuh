// The end of a launch: its last thread notifies the host. Only kernels.cu includes this file.
#pragma once

#include "transports/kernels/block_counters.cuh"
#include "transports/kernels/one_shot_collective.cuh"

namespace penstock::transports::kernels {
namespace {

/// Returns true for one thread of the launch, when it can see all others' work.
__device__ bool is_last_of_launch(std::uint32_t& blocks) {
  __syncthreads();
  if (threadIdx.x != 0) return false;
  if (gridDim.x == 1) return true;
  __threadfence();
  return atomicInc(&blocks, gridDim.x - 1) == gridDim.x - 1;  // becomes 0 again
}

/// Writes to a word that the host polls. A reader of the value sees all that this thread has seen.
template <class Word>
__device__ void publish(Word& word, Word value) {
#ifdef __CUDACC__
  __threadfence_system();
  *static_cast<volatile Word*>(&word) = value;
#else
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);  // ThreadSanitizer knows no fences
#endif
}

/// All threads of the launch run this, after their work.
__device__ void raise_at_end(std::uint32_t* flag, std::uint32_t slot) {
  if (flag != nullptr && is_last_of_launch(block_counters[slot].finished)) publish(*flag, 1u);
}

/// The same for a launch whose threads may have given up.
__device__ void conclude_one_shot(const OneShotCollective& collective) {
  if (!is_last_of_launch(block_counters[collective.slot].finished)) return;
  const std::uint32_t why = atomicExch(&block_counters[collective.slot].has_given_up, 0u);
  const OneShotOutcome outcome = (why & gave_up_on_sizes) != 0 ? one_shot_mismatched
                                 : why != 0                    ? one_shot_incomplete
                                                               : one_shot_complete;
  publish(*collective.flag, static_cast<std::uint32_t>(outcome));
}

}  // namespace
}  // namespace penstock::transports::kernels
