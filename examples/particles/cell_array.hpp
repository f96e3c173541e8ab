// Finds cells by where they lie: the cell array, and who is beside whom. Knows nothing of classes.
#pragma once

#include "examples/particles/tiling.hpp"

namespace particles {

/// Fills in the cell array and the segments of a tiling that has cells.
void place_cells(Tiling& tiling);

}  // namespace particles
