// Where couplings and the spins' start come from, site by site. Host and GPU run these same functions. Knows
// no memory layout.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/ising/lattice.hpp"
#include "examples/support/philox.hpp"

namespace ising {

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

}  // namespace ising
