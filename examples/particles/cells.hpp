// A rank's tiling as kernels see it, in device memory. For .cu files and those that own the memory.
#pragma once

#include <cstdint>

#include "examples/particles/box.hpp"
#include "examples/particles/tiling.hpp"
#include "examples/particles/wall.hpp"

namespace particles {

constexpr std::uint32_t no_cell = 0xFFFFFFFF;

struct Cells {
  Box box;
  Classes classes;
  std::uint32_t low[2];
  std::uint32_t extent[2];
  const std::uint32_t* row_starts;
  const std::uint32_t* x;
  const std::uint32_t* local;
  const std::uint32_t* segment_starts;
  const Segment* segments;
  const Connection* connections;
  const std::uint32_t* capsule_starts;  ///< of the capsules beside each cell; null if there is no wall
  const Capsule* capsules;
  bool bounces_back;

  /// The local index of a cell, or no_cell. Where a row has no gap, its first cell says where the others are.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t find(const Site& cell) const {
    const std::uint32_t y = cell.at[1] - low[0];
    const std::uint32_t z = cell.at[2] - low[1];
    if (y >= extent[0] || z >= extent[1]) {
      return no_cell;
    }
    std::uint32_t begin = row_starts[z * extent[0] + y];
    const std::uint32_t row_end = row_starts[z * extent[0] + y + 1];
    std::uint32_t end = row_end;
    if (begin == end || cell.at[0] < x[begin]) {
      return no_cell;
    }
    const std::uint32_t guess = begin + (cell.at[0] - x[begin]);
    if (guess < end && x[guess] == cell.at[0]) {
      return local[guess];
    }
    while (begin < end) {
      const std::uint32_t middle = begin + (end - begin) / 2;
      if (x[middle] < cell.at[0]) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin < row_end && x[begin] == cell.at[0] ? local[begin] : no_cell;
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t find(const Place& place) const {
    return find(box.cell_of_voxel(box.voxel_of(place)));
  }

  /// The row of the connection matrix of a place in a frontier or external cell.
  [[nodiscard]] EXAMPLE_HOST_DEVICE const Connection& connection(const Place& place,
                                                                 std::uint32_t cell) const {
    const std::uint32_t row = cell - classes.internal;
    return connections[std::size_t{row} * box.voxels_of_cell() + box.part_of_cell(box.voxel_of(place))];
  }

  /// The wall beside a cell; there must be one somewhere.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Wall wall(std::uint32_t cell) const {
    return {capsules + capsule_starts[cell],
            static_cast<int>(capsule_starts[cell + 1] - capsule_starts[cell]), bounces_back};
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE bool is_near_wall(std::uint32_t cell) const {
    return capsule_starts != nullptr && capsule_starts[cell] != capsule_starts[cell + 1];
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE bool is_internal(std::uint32_t cell) const {
    return cell < classes.internal;
  }
};

/// Particles that have moved, in no order, each with its next cell.
struct Movers {
  Place* places;
  Motion* motions;
  std::uint32_t* cells;   ///< no_cell: not a particle of this rank
  std::uint32_t* turns;   ///< a number of its own among those of its cell
  std::uint32_t* counts;  ///< of each cell; one more than cells
};

/// Particles sorted by cell: those of cell c from starts[c] on.
struct Sorted {
  Place* places;
  Motion* motions;
  std::uint32_t* cells;
  std::uint32_t* starts;  ///< one more than cells
  std::uint32_t room;     ///< for so many particles
};

/// What goes wrong in a kernel, and what the host asks for at each step.
struct Status {
  /// The lowest of: steps since it was cleared (8 bits), identity (32), upper bits of the speed along an
  /// axis, as float (24).
  unsigned long long too_fast;
  unsigned long long too_near;  ///< the lowest pair, as pair_word has it, in the core of its force …
  unsigned int too_near_step;   ///< … in this step since it was cleared, the first in which there was one
  unsigned int put_back;        ///< particles that had left through the wall by rounding
  unsigned int migrated;        ///< particles that have become own ones
  unsigned int ends[3];         ///< of the sorted own particles: behind deep, internal and all cells
  unsigned int records[most_neighbours];  ///< to each neighbour, more than there is room for, too
};
constexpr unsigned long long none_too_fast = ~0ULL;
constexpr unsigned int none_too_near = ~0U;

[[nodiscard]] EXAMPLE_HOST_DEVICE inline unsigned long long pair_word(std::uint32_t lower,
                                                                      std::uint32_t upper) {
  return static_cast<unsigned long long>(lower) << 32 | upper;
}

[[nodiscard]] EXAMPLE_HOST_DEVICE inline unsigned long long too_fast_word(std::uint32_t steps,
                                                                          std::uint32_t identity,
                                                                          std::uint32_t speed_bits) {
  return static_cast<unsigned long long>(steps) << 56 | static_cast<unsigned long long>(identity) << 24 |
         speed_bits >> 8;
}

}  // namespace particles
