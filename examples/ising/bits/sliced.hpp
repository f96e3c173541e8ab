// The sliced layout: a "plane" is a slice, the sites of equal (x + y + z) mod Z, where Z is the lattice's
// extent along z; x and y say where in the slice. All neighbours of a site are in the slices before and after
// its own, so that the sites of a slice can be updated at once: a slice has one colour. A rank whose first
// slice is even and last one odd sends after each phase to one neighbour only. Any cube can be sliced, even
// one of odd extents; other lattices if x and y leave 0 or 2 when divided by Z. Knows no GPU call, no MPI.
// Source: M. Lulli, M. Bernaschi, G. Parisi, "Highly optimized simulations on single- and multi-GPU systems
// of the 3D Ising spin glass", Comput. Phys. Commun. 196, 290 (2015).
#pragma once

#include "examples/ising/bits/spot.hpp"

namespace ising::bits {

struct Sliced {
  Sliced(const Lattice& of_lattice, Planes of_rank)
      : lattice(of_lattice),
        planes(of_rank),
        x_goes_on(of_lattice.x % of_lattice.z == 0),
        y_goes_on(of_lattice.y % of_lattice.z == 0) {}

  /// A step across the border of the lattice, from x − 1 to 0, changes x + y + z by 1 − x, which must be one
  /// slice forwards or backwards.
  [[nodiscard]] static bool fits(const Lattice& lattice) {
    const auto closes = [&](int extent) {
      return extent >= 2 && (extent % lattice.z == 0 || extent % lattice.z == 2 % lattice.z);
    };
    return lattice.z >= 2 && closes(lattice.x) && (lattice.dimensions() == 2 || closes(lattice.y));
  }

  [[nodiscard]] static int phases(const Lattice& lattice) { return phases_of(lattice); }
  /// Whether a phase updates that local slice, halos included.
  [[nodiscard]] bool updates(int phase, int plane) const {
    return phase_of_slice(lattice, wrap(planes.first + plane, lattice.z)) == phase;
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE int phase_words() const { return lattice.x * lattice.y; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int plane_words() const { return phase_words(); }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int position(int /*phase*/, int plane) const {
    return (plane + 1) * plane_words();
  }

  /// The index-th site of those slices.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Spot spot(int phase, PlaneRange range, std::uint32_t index) const {
    const auto row_of_range = index / static_cast<std::uint32_t>(lattice.x);
    const int x = static_cast<int>(index % static_cast<std::uint32_t>(lattice.x));
    const int plane = range.plane(static_cast<int>(row_of_range / static_cast<std::uint32_t>(lattice.y)));
    const int y = static_cast<int>(row_of_range % static_cast<std::uint32_t>(lattice.y));
    const int slice = planes.first + plane;
    const int z = wrap(
        slice - static_cast<int>(static_cast<std::uint32_t>(x + y) % static_cast<std::uint32_t>(lattice.z)),
        lattice.z);

    const int here = position(phase, plane) + y * lattice.x + x;
    const int before = here - plane_words();
    const int after = here + plane_words();
    const bool is_flat = lattice.dimensions() == 2;
    return {{x, y, z},
            here,
            {x > 0 ? before - 1 : (x_goes_on ? before : after) + lattice.x - 1,
             x + 1 < lattice.x ? after + 1 : (x_goes_on ? after : before) + 1 - lattice.x,
             is_flat ? here
             : y > 0 ? before - lattice.x
                     : (y_goes_on ? before : after) + (lattice.y - 1) * lattice.x,
             is_flat             ? here
             : y + 1 < lattice.y ? after + lattice.x
                                 : (y_goes_on ? after : before) - (lattice.y - 1) * lattice.x,
             before, after}};
  }

  Lattice lattice;
  Planes planes;
  bool x_goes_on;  ///< a step forwards across the border is one to the next slice, as elsewhere
  bool y_goes_on;
};

}  // namespace ising::bits
