// Finds cells by where they lie: the cell array, and who is beside whom. Knows nothing of classes.
#pragma once

#include <vector>

#include "examples/particles/tiling.hpp"

namespace particles {

/// `cells` by local index.
[[nodiscard]] CellArray make_cell_array(const Box& box, const std::vector<Site>& cells);

/// Fills in the segments of a tiling that has cells.
void make_segments(Tiling& tiling);

}  // namespace particles
