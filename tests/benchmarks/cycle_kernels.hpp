// The kernels of cycle_benchmark: a level of a grid, its face towards the other rank and the copy of the
// other's.
#pragma once

#include <cuda_runtime.h>

#include <cstddef>

namespace penstock::benchmarks {

/// A cube of doubles on the GPU, `edge` cells each way, without the other rank's cells beside it.
struct Level {
  double* cells = nullptr;
  double* face = nullptr;   ///< this rank's cells beside the other rank, packed: edge × edge
  double* ghost = nullptr;  ///< the other rank's
  double* edges = nullptr;  ///< where ghosts are unpacked to: edge × edge, two apart
  int edge = 0;
};

/// Queue one kernel each: changes the sign of all cells; copies the last cell of each row to the face; copies
/// the ghosts to every second place of `edges`.
[[nodiscard]] cudaError_t smooth(const Level& level, cudaStream_t stream);
[[nodiscard]] cudaError_t pack(const Level& level, cudaStream_t stream);
[[nodiscard]] cudaError_t unpack(const Level& level, cudaStream_t stream);

}  // namespace penstock::benchmarks
