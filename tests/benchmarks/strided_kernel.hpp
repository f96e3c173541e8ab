// What datatype_benchmark compares messages with: a kernel of a few lines that gathers rows from the other
// GPU, as a program would write it by hand.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace penstock::benchmarks {

/// Rows of 8-byte words: so many words in each, `stride` words apart.
struct WordRows {
  std::size_t rows = 0;
  std::size_t words = 0;
  std::size_t stride = 0;
};

/// Queues a copy of the rows at `from` to the same places at `to`.
[[nodiscard]] cudaError_t copy_rows(double* to, const double* from, const WordRows& rows,
                                    cudaStream_t stream);

}  // namespace penstock::benchmarks
