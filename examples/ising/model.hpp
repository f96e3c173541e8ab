// The physics, site by site: where spins and couplings come from, and when a flip is accepted. Host and GPU
// run these same functions, and only integers decide, so that their results agree bit for bit. Knows no
// memory layout.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/support/philox.hpp"

namespace ising {

/// Number of spins along each axis, all periodic. x is a multiple of 8, y and z are even (checkerboard).
struct Lattice {
  int x = 0;
  int y = 0;
  int z = 0;

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t sites() const { return std::int64_t{x} * y * z; }
};

struct Site {
  int x;
  int y;
  int z;
};

EXAMPLE_HOST_DEVICE inline int wrap(int coordinate, int extent) {
  return coordinate < 0 ? coordinate + extent : coordinate >= extent ? coordinate - extent : coordinate;
}

/// What a site is born with. Its bonds are those in the positive directions; the other three are its
/// neighbours'.
struct SiteStart {
  std::uint32_t spin;    ///< 0 or 1, for −1 and +1
  std::uint32_t bond_x;  ///< 0 or 1, for J = −1 and J = +1
  std::uint32_t bond_y;
  std::uint32_t bond_z;
};

EXAMPLE_HOST_DEVICE inline SiteStart start_of(const Lattice& lattice, Site site, std::uint64_t seed) {
  const auto index =
      static_cast<std::uint64_t>((std::int64_t{site.z} * lattice.y + site.y) * lattice.x + site.x);
  const example::FourWords random = example::philox(
      {{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}}, seed);
  const std::uint32_t bits = random.word[0];
  return {bits & 1u, bits >> 1 & 1u, bits >> 2 & 1u, bits >> 3 & 1u};
}

/// Random words for one update of four spins of one colour: those at columns 4i…4i+3 of their row, where
/// column is x / 2. A `group` is numbered along x, then y, then z, over the whole lattice.
EXAMPLE_HOST_DEVICE inline example::FourWords update_randoms(std::uint64_t group, int colour,
                                                             std::uint32_t sweep, std::uint64_t seed) {
  return example::philox({{static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), sweep,
                           1u + static_cast<std::uint32_t>(colour)}},
                         seed);
}

/// Metropolis' rule. A spin with k of its six bonds satisfied gains ΔE = 4k − 12 by flipping; it flips if ΔE
/// ≤ 0, else with probability exp(−ΔE / T), which is a threshold for a random word.
class Metropolis {
 public:
  explicit Metropolis(double temperature) {
    for (int satisfied = 4; satisfied <= 6; ++satisfied) {
      const double probability = std::exp(-(4.0 * satisfied - 12.0) / temperature);
      threshold_[satisfied - 4] = static_cast<std::uint32_t>(std::fmin(probability * 0x1p32, 0xFFFFFFFFp0));
    }
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE bool flips(unsigned satisfied_bonds, std::uint32_t random) const {
    return satisfied_bonds <= 3 || random < threshold_[satisfied_bonds - 4];
  }

 private:
  std::uint32_t threshold_[3];
};

}  // namespace ising
