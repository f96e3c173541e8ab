// Reduces the contributions of all ranks, element by element, in rank order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "examples/gmh/gmh.h"

namespace gmh {

/// Queues the reduction of `parts`, which has `ranks` times `count` elements.
cudaError_t combine(cudaStream_t stream, const void* parts, int ranks, std::int64_t count,
                    gmh_datatype_t type, gmh_op_t op, void* result);

}  // namespace gmh
