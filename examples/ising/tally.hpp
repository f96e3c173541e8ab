// What kernels add up over spins.
#pragma once

#include <cstdint>

#include "examples/ising/options.hpp"

namespace ising {

/// Sums over a rank's spins; adding them up over all ranks, modulo 2^64, gives those of the lattice.
struct Tally {
  std::uint64_t satisfied_bonds;  ///< each counted at both of its ends
  std::uint64_t up_spins;
  std::uint64_t hash;  ///< of every spin and its place
};
constexpr int tally_words = sizeof(Tally) / sizeof(std::uint64_t);
constexpr int tally_count = 4096;  ///< partial sums, one a GPU thread
constexpr int replica_pairs = replicas_in_a_word / 2;

}  // namespace ising
