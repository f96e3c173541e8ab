// When a flip is accepted, and by which random numbers. Host and GPU run these same functions, and only
// integers decide, so that their results agree bit for bit. Knows no memory layout.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/ising/model.hpp"
#include "examples/support/philox.hpp"

namespace ising {

/// Random words for one update of four spins of one colour: those at columns 4i…4i+3 of their row, where
/// column is x / 2. A `group` is numbered along x, then y, then z, over the whole lattice.
EXAMPLE_HOST_DEVICE inline example::FourWords update_randoms(std::uint64_t group, int colour,
                                                             std::uint32_t sweep, std::uint64_t seed) {
  return example::philox({{static_cast<std::uint32_t>(group), static_cast<std::uint32_t>(group >> 32), sweep,
                           1u + static_cast<std::uint32_t>(colour)}},
                         seed);
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
