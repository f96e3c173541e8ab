// Which planes of the lattice a rank holds, and how they lie in memory. Knows no GPU call and no MPI.
//
// Each colour of the checkerboard has an array of its own. A byte is a spin; a 32-bit word holds four that
// are neighbours in their colour (x, x+2, x+4, x+6), the lowest x in the lowest byte; column i of a row is
// word i. One plane of one colour is contiguous, so that a halo is one message. Local plane −1 and plane
// `planes` are halos.
#pragma once

#include <cstdint>

#include "examples/ising/lattice.hpp"
#include "examples/ising/planes.hpp"

namespace ising::bytes {

struct Slab {
  Lattice lattice;
  int first_plane = 0;  ///< in z, of the whole lattice
  int planes = 0;       ///< without the two halos

  [[nodiscard]] EXAMPLE_HOST_DEVICE int row_words() const { return lattice.x / 8; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t plane_words() const {
    return std::int64_t{row_words()} * lattice.y;
  }
  /// Words of one colour, with both halos.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t words() const { return plane_words() * (planes + 2); }
  /// Position of the first word of a row; `plane` from −1 to `planes`.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t row_start(int plane, int y) const {
    return plane_words() * (plane + 1) + std::int64_t{row_words()} * y;
  }
  /// Number of a word in its colour over the whole lattice, the same however many ranks share it.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint64_t global_word(int plane, int y, int column) const {
    return static_cast<std::uint64_t>(plane_words() * (first_plane + plane) + std::int64_t{row_words()} * y +
                                      column);
  }
  /// 0 or 1: whether the sites of this colour in this row have even or odd x.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int first_x(int colour, int plane, int y) const {
    return (colour + y + first_plane + plane) & 1;
  }
};

[[nodiscard]] inline Slab slab_of_rank(const Lattice& lattice, int rank, int rank_count) {
  const Planes planes = planes_of_rank(lattice.z, rank, rank_count);
  return {lattice, planes.first, planes.count};
}

}  // namespace ising::bytes
