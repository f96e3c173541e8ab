#include "examples/particles/cell_array.hpp"

#include <algorithm>
#include <limits>

namespace particles {
namespace {

constexpr std::uint32_t absent = std::numeric_limits<std::uint32_t>::max();

/// The local index of each cell of the box, or `absent`.
class LocalIndices {
 public:
  LocalIndices(const Box& box, const std::vector<Site>& cells)
      : box_(box), indices_(static_cast<std::size_t>(box.cell_count()), absent) {
    for (std::size_t index = 0; index < cells.size(); ++index) {
      indices_[static_cast<std::size_t>(box.cell_index(cells[index]))] = static_cast<std::uint32_t>(index);
    }
  }
  [[nodiscard]] std::uint32_t of(const Site& cell) const {
    return indices_[static_cast<std::size_t>(box_.cell_index(cell))];
  }

 private:
  const Box& box_;
  std::vector<std::uint32_t> indices_;
};

CellArray make_cell_array(const Box& box, const std::vector<Site>& cells, const LocalIndices& locals) {
  CellArray array;
  if (cells.empty()) {
    return array;
  }
  std::uint32_t high[2] = {0, 0};
  array.low[0] = array.low[1] = absent;
  for (const Site& cell : cells) {
    for (int axis = 0; axis < 2; ++axis) {
      array.low[axis] = std::min(array.low[axis], cell.at[axis + 1]);
      high[axis] = std::max(high[axis], cell.at[axis + 1]);
    }
  }
  for (int axis = 0; axis < 2; ++axis) {
    array.extent[axis] = high[axis] - array.low[axis] + 1;
  }
  array.row_starts.push_back(0);
  for_each_site({1, array.extent[0], array.extent[1]}, [&](const Site& row) {
    for (std::uint32_t x = 0; x < box.cells[0]; ++x) {
      const std::uint32_t index = locals.of({{x, array.low[0] + row.at[1], array.low[1] + row.at[2]}});
      if (index != absent) {
        array.x.push_back(x);
        array.local.push_back(index);
      }
    }
    array.row_starts.push_back(static_cast<std::uint32_t>(array.x.size()));
  });
  return array;
}

void make_segments(Tiling& tiling, const LocalIndices& locals) {
  tiling.segment_starts.push_back(0);
  for (const Site& cell : tiling.cells) {
    for (int row = 0; row < 9; ++row) {
      std::uint32_t first = absent;
      std::uint32_t count = 0;
      for (int x = -1; x <= 1; ++x) {
        const std::uint32_t index = locals.of(moved(cell, x, row % 3 - 1, row / 3 - 1, tiling.box.cells));
        if (count > 0 && index != first + count) {
          tiling.segments.emplace_back(first, count);
          count = 0;
        }
        if (index != absent) {
          first = count == 0 ? index : first;
          ++count;
        }
      }
      if (count > 0) {
        tiling.segments.emplace_back(first, count);
      }
    }
    tiling.segment_starts.push_back(static_cast<std::uint32_t>(tiling.segments.size()));
  }
}

}  // namespace

void place_cells(Tiling& tiling) {
  const LocalIndices locals(tiling.box, tiling.cells);
  tiling.array = make_cell_array(tiling.box, tiling.cells, locals);
  make_segments(tiling, locals);
}

}  // namespace particles
