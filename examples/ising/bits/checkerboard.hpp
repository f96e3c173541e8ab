// The checkerboard as a layout of one word a site: in each plane the sites of even x + y + z come first, then
// those of odd. So one colour of a plane is contiguous, and a halo is one message. Knows no GPU call, no MPI.
#pragma once

#include "examples/ising/bits/spot.hpp"

namespace ising::bits {

struct Checkerboard {
  Lattice lattice;
  Planes planes;

  [[nodiscard]] static int phases(const Lattice&) { return 2; }
  /// Whether a phase updates sites of that local plane, halos included.
  [[nodiscard]] bool updates(int /*phase*/, int /*plane*/) const { return true; }

  [[nodiscard]] EXAMPLE_HOST_DEVICE int row_words() const { return lattice.x / 2; }
  /// Words of one phase in a plane that it updates.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int phase_words() const { return row_words() * lattice.y; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int plane_words() const { return 2 * phase_words(); }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int position(int phase, int plane) const {
    return (plane + 1) * plane_words() + phase * phase_words();
  }

  /// The index-th site of a phase in those planes.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Spot spot(int phase, PlaneRange range, std::uint32_t index) const {
    const auto row_of_range = index / static_cast<std::uint32_t>(row_words());
    const int column = static_cast<int>(index % static_cast<std::uint32_t>(row_words()));
    const int plane = range.plane(static_cast<int>(row_of_range / static_cast<std::uint32_t>(lattice.y)));
    const int y = static_cast<int>(row_of_range % static_cast<std::uint32_t>(lattice.y));
    const int first_x = (phase + y + planes.first + plane) & 1;

    const int own = position(phase, plane) + y * row_words() + column;
    // Neighbours are of the other colour. Along y and z they stand in the same column; along x one of them
    // does, and the other stands beside it.
    const int other = position(1 - phase, plane) + y * row_words() + column;
    const int row = other - column;
    const bool is_flat = lattice.dimensions() == 2;
    const int plane_y = other - y * row_words();
    return {{2 * column + first_x, y, planes.first + plane},
            own,
            {first_x == 0 ? row + wrap(column - 1, row_words()) : other,
             first_x == 0 ? other : row + wrap(column + 1, row_words()),
             is_flat ? own : plane_y + wrap(y - 1, lattice.y) * row_words(),
             is_flat ? own : plane_y + wrap(y + 1, lattice.y) * row_words(), other - plane_words(),
             other + plane_words()}};
  }
};

}  // namespace ising::bits
