// The kernel of random task graphs.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gmh_tests {

/// Queues target[i] = mixed(target[i], source[i modulo its length], constant).
cudaError_t queue_mix(cudaStream_t stream, std::uint32_t* target, int count, const std::uint32_t* source,
                      int source_count, std::uint32_t constant);

}  // namespace gmh_tests
