// Who owns the voxels of each cell, in short: most cells have one owner, and only others' around them, so
// that nobody has to look at their voxels. Knows no MPI and no GPU.
#pragma once

#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/partition.hpp"

namespace particles {

class CellOwners {
 public:
  static constexpr Owner several = -2;

  CellOwners(const Box& box, const Owners& owners);

  /// The only owner of a cell's voxels, no_owner, or `several`.
  [[nodiscard]] Owner of(const Site& cell) const {
    return owners_[static_cast<std::size_t>(box_.cell_index(cell))];
  }

  /// Whether a cell has one owner or none, and those around it have no voxel of another: no other owner's
  /// voxel is within the cutoff of it.
  [[nodiscard]] bool is_lonely(const Site& cell) const;

 private:
  Box box_;
  Owners owners_;  ///< of all cells of the box
};

}  // namespace particles
