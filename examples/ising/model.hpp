// The physics, site by site: where spins and couplings come from, and when a flip is accepted. Host and GPU
// run these same functions, and only integers decide, so that their results agree bit for bit. Knows no
// memory layout.
#pragma once

#include <cmath>
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

enum class Couplings {
  glass,        ///< J = ±1 with equal probability
  ferromagnet,  ///< J = 1
  nishimori     ///< P(J = +1) = 1 / (1 + exp(−2 / T))
};

/// All but the temperature of what is simulated.
struct Model {
  Lattice lattice;
  Couplings couplings = Couplings::glass;
  std::uint32_t plus_threshold = 0;  ///< on the Nishimori line: J = +1 if a random word is below
  std::uint64_t seed = 1;
};

/// Probability as a threshold: a random word is below with that probability, to within 2^-32.
[[nodiscard]] inline std::uint32_t threshold_of(double probability) {
  return static_cast<std::uint32_t>(std::fmin(probability * 0x1p32, 0xFFFFFFFFp0));
}

[[nodiscard]] inline Model model_of(const Lattice& lattice, Couplings couplings, double temperature,
                                    std::uint64_t seed) {
  return {lattice, couplings, threshold_of(1.0 / (1.0 + std::exp(-2.0 / temperature))), seed};
}

/// What a site is born with. Its bonds are those in the positive directions; the other three are its
/// neighbours'.
struct SiteStart {
  std::uint32_t spin;    ///< 0 or 1, for −1 and +1
  std::uint32_t bond_x;  ///< 0 or 1, for J = −1 and J = +1
  std::uint32_t bond_y;
  std::uint32_t bond_z;
};

EXAMPLE_HOST_DEVICE inline std::uint64_t index_of(const Lattice& lattice, Site site) {
  return static_cast<std::uint64_t>((std::int64_t{site.z} * lattice.y + site.y) * lattice.x + site.x);
}

/// Without disorder, or with couplings of the Nishimori line, all spins start up. On that line this "planted"
/// state is as good as one in equilibrium: averaged over the couplings, all that does not change when spins
/// and couplings are flipped together (such as the energy) has its equilibrium value from the start.
EXAMPLE_HOST_DEVICE inline SiteStart start_of(const Model& model, Site site) {
  if (model.couplings == Couplings::ferromagnet) {
    return {1, 1, 1, 1};
  }
  const std::uint64_t index = index_of(model.lattice, site);
  const example::FourWords random = example::philox(
      {{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0}}, model.seed);
  if (model.couplings == Couplings::nishimori) {
    const auto bond = [&](int word) { return random.word[word] < model.plus_threshold ? 1u : 0u; };
    return {1, bond(1), bond(2), bond(3)};
  }
  const std::uint32_t bits = random.word[0];
  return {bits & 1u, bits >> 1 & 1u, bits >> 2 & 1u, bits >> 3 & 1u};
}

/// The six bonds of a site, bit by bit: 1 for J = +1; −x, +x, −y, +y, −z, +z from the lowest bit.
EXAMPLE_HOST_DEVICE inline std::uint32_t bonds_of(const Model& model, Site site) {
  const auto [x, y, z] = site;
  const Lattice& lattice = model.lattice;
  const SiteStart own = start_of(model, site);
  const std::uint32_t bonds = start_of(model, {wrap(x - 1, lattice.x), y, z}).bond_x | own.bond_x << 1 |
                              start_of(model, {x, wrap(y - 1, lattice.y), z}).bond_y << 2 | own.bond_y << 3 |
                              start_of(model, {x, y, wrap(z - 1, lattice.z)}).bond_z << 4 | own.bond_z << 5;
  constexpr std::uint32_t along_y = 0b1100;
  constexpr std::uint32_t one_of_them = 0b0100;
  return lattice.dimensions() == 2 ? (bonds & ~along_y) | one_of_them : bonds;
}

/// Random words for one update of four spins of one colour: those at columns 4i…4i+3 of their row, where
/// column is x / 2. A `group` is numbered along x, then y, then z, over the whole lattice.
EXAMPLE_HOST_DEVICE inline example::FourWords update_randoms(std::uint64_t group, int colour,
                                                             std::uint32_t sweep, std::uint64_t seed) {
  return example::philox({{static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), sweep,
                           1u + static_cast<std::uint32_t>(colour)}},
                         seed);
}

/// Replicas share their couplings; each has its own random numbers. A word holds all of a site's spins, a bit
/// each.
constexpr int replicas_in_a_word = 32;

/// The start of all replicas' spins at a site.
EXAMPLE_HOST_DEVICE inline std::uint32_t replicas_start_of(const Model& model, Site site) {
  if (model.couplings != Couplings::glass) {
    return 0xFFFFFFFF;
  }
  const std::uint64_t index = index_of(model.lattice, site);
  return example::philox({{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 3}},
                         model.seed)
      .word[0];
}

/// Four of the 32 random words for one update of all replicas of a site: words 4·part … 4·part + 3.
/// Replica r's random number has bit r of word i as its bit i.
EXAMPLE_HOST_DEVICE inline example::FourWords replicas_update_randoms(std::uint64_t site_index, int part,
                                                                      std::uint32_t sweep,
                                                                      std::uint64_t seed) {
  return example::philox(
      {{static_cast<std::uint32_t>(site_index), static_cast<std::uint32_t>(site_index >> 32), sweep,
        8u + static_cast<std::uint32_t>(part)}},
      seed);
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

/// Metropolis' rule. A spin with k of its six bonds satisfied gains ΔE = 4k − 12 by flipping; it flips if ΔE
/// ≤ 0, else with probability exp(−ΔE / T), which is a threshold for a random word.
class Metropolis {
 public:
  explicit Metropolis(double temperature) {
    for (int satisfied = 4; satisfied <= 6; ++satisfied) {
      threshold_[satisfied - 4] = threshold_of(std::exp(-(4.0 * satisfied - 12.0) / temperature));
    }
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE bool flips(unsigned satisfied_bonds, std::uint32_t random) const {
    const std::uint32_t threshold = satisfied_bonds == 4   ? threshold_[0]
                                    : satisfied_bonds == 5 ? threshold_[1]
                                                           : threshold_[2];
    return satisfied_bonds <= 3 || random < threshold;
  }
  /// For 4, 5 and 6 satisfied bonds.
  [[nodiscard]] std::uint32_t threshold(int satisfied_bonds) const { return threshold_[satisfied_bonds - 4]; }

 private:
  std::uint32_t threshold_[3];
};

}  // namespace ising
