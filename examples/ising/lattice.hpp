// The lattice: its sites, their numbers, and which of them may be updated at once. Knows no memory layout.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace ising {

/// Number of spins along each axis, all periodic. A lattice of two dimensions has one spin along y. It is
/// treated as one of three in which a site is its own neighbour on both sides along y, once satisfied and
/// once not, so that these two bonds never matter.
struct Lattice {
  int x = 0;
  int y = 0;
  int z = 0;

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t sites() const { return std::int64_t{x} * y * z; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int dimensions() const { return y == 1 ? 2 : 3; }
};

struct Site {
  int x;
  int y;
  int z;
};

EXAMPLE_HOST_DEVICE inline int wrap(int coordinate, int extent) {
  return coordinate < 0 ? coordinate + extent : coordinate >= extent ? coordinate - extent : coordinate;
}

EXAMPLE_HOST_DEVICE inline std::uint64_t index_of(const Lattice& lattice, Site site) {
  return static_cast<std::uint64_t>((std::int64_t{site.z} * lattice.y + site.y) * lattice.x + site.x);
}

/// Spins are updated in phases: those of a phase are not neighbours. Even and odd x + y + z, as on a
/// checkerboard; but where z is odd, so that a checkerboard does not close, a third one is the last of the
/// slices that (x + y + z) mod z numbers.
EXAMPLE_HOST_DEVICE inline int phase_of_slice(const Lattice& lattice, int slice) {
  return lattice.z % 2 == 1 && slice == lattice.z - 1 ? 2 : slice % 2;
}

[[nodiscard]] inline int phases_of(const Lattice& lattice) {
  return lattice.z % 2 == 1 ? 3 : 2;
}

}  // namespace ising
