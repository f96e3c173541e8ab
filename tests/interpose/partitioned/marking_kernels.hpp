// Kernels that write partitions and mark them ready.
#pragma once

#include <cuda_runtime.h>

#include "include/penstock/device.cuh"

namespace penstock::test_support {

/// Queues a kernel of one block that writes `ints` ints, counted up from `first`, to each partition of
/// `buffer`, in descending order, and marks each once it is written. Behind the first `held_behind`
/// partitions it waits until
/// `*go_on` is not 0; null: it does not wait.
[[nodiscard]] cudaError_t write_and_mark(int* buffer, int ints, penstock_request marks, int first,
                                         int held_behind, const unsigned* go_on);

/// Queues a kernel on the legacy stream that marks these partitions, which were written before.
[[nodiscard]] cudaError_t mark_range(penstock_request marks, int first, int last);

}  // namespace penstock::test_support
