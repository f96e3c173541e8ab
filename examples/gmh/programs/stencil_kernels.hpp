// The stencil's kernel. This file knows no GMH.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

namespace gmh_programs {

/// A part of the grid: rows 1 to `rows` are this rank's, rows 0 and rows + 1 its neighbours' or the boundary.
struct Grid {
  int columns;
  int rows;
};

/// The rows to update: `count` of them, every `stride`-th from `first` on.
struct Rows {
  int first;
  int count;
  int stride;
};

/// Queues the update: each cell of `to` becomes the mean of its four neighbours in `from`; the first and last
/// columns are copied. If `change` is not null, it becomes the largest change of all launches that share it,
/// as the bits of a double, whose order is that of positive numbers.
cudaError_t queue_update(cudaStream_t stream, Grid grid, Rows rows, const double* from, double* to,
                         unsigned long long* change);

/// Returns a cell's first value: the boundary's, or zero inside. `row` counts from the upper boundary row.
[[nodiscard]] double first_value(int row, int column, int all_rows, int columns);

}  // namespace gmh_programs
