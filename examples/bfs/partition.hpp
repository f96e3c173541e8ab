// Who holds what: the two-dimensional partition of the adjacency matrix over a grid of R rows and C columns
// of ranks. Vertices lie in R*C blocks of equal size, and rank r owns block r; ranks are numbered down the
// grid's columns. The rank at (i, j) holds the edges u -> v with u in a block of its grid column j and v in a
// block of its grid row i. So all that its edges start from is owned by ranks of its column, and all they
// lead to by ranks of its row. The same code on host and GPU; knows no MPI.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace bfs {

struct Grid {
  int rows;
  int columns;
};

/// As square as can be, with more rows than columns: an exchange along a column takes fewer steps.
[[nodiscard]] inline Grid grid_for(int rank_count) {
  int columns = 1;
  for (int divisor = 1; divisor * divisor <= rank_count; ++divisor) {
    if (rank_count % divisor == 0) {
      columns = divisor;
    }
  }
  return {rank_count / columns, columns};
}

class Partition {
 public:
  Partition(std::int64_t vertices, Grid grid, int rank)
      : vertices_(vertices), grid_(grid), rank_(rank), block_(block_size(vertices, grid)) {}

  /// Vertices of a block: a multiple of 32, so that a block's bitmap is whole words. The last block, or the
  /// last few of a small graph, may reach beyond the vertices that there are.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t block() const { return block_; }
  [[nodiscard]] std::int64_t block_words() const { return block_ / 32; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t vertices() const { return vertices_; }
  [[nodiscard]] Grid grid() const { return grid_; }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int rank_count() const { return grid_.rows * grid_.columns; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int row() const { return rank_ % grid_.rows; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int column() const { return rank_ / grid_.rows; }

  /// Sources of this rank's edges: `rows` blocks that lie behind one another.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t sources() const { return block_ * grid_.rows; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t first_source_of(int column) const {
    return column * sources();
  }
  /// Targets of its edges: `columns` blocks, each `rows` blocks behind the one before.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t targets() const { return block_ * grid_.columns; }

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t first_own() const { return block_ * rank_; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE bool owns(std::int64_t vertex) const {
    return vertex >= first_own() && vertex < first_own() + block_;
  }
  /// Where this rank's own block begins among its sources, and among its targets.
  [[nodiscard]] std::int64_t own_sources() const { return block_ * row(); }
  [[nodiscard]] std::int64_t own_targets() const { return block_ * column(); }

  [[nodiscard]] EXAMPLE_HOST_DEVICE bool holds_edge(std::int64_t from, std::int64_t to) const {
    return from / sources() == column() && to / block_ % grid_.rows == row();
  }
  /// Only for vertices of edges that it holds.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t local_source(std::int64_t vertex) const {
    return static_cast<std::uint32_t>(vertex - first_source_of(column()));
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t local_target(std::int64_t vertex) const {
    return static_cast<std::uint32_t>(vertex / block_ / grid_.rows * block_ + vertex % block_);
  }

 private:
  [[nodiscard]] static std::int64_t block_size(std::int64_t vertices, Grid grid) {
    const std::int64_t parts = std::int64_t{grid.rows} * grid.columns * 32;
    return (vertices + parts - 1) / parts * 32;
  }

  std::int64_t vertices_;
  Grid grid_;
  int rank_;
  std::int64_t block_;
};

}  // namespace bfs
