// The three kernels of the simulation, as calls that queue them on a stream. Knows no MPI: halos are just
// planes.
#pragma once

#include <cstdint>

#include "examples/ising/slab.hpp"
#include "examples/support/gpu.hpp"

namespace ising {

/// Device memory of one rank's slab: index is the colour. In a word of couplings, each byte holds the six
/// bonds of its site, as bonds_of() gives them.
struct GlassView {
  Slab slab;
  std::uint32_t* spins[2];
  std::uint32_t* couplings[2];
};

/// Planes `first`, `first + stride`, …, `count` of them.
struct PlaneRange {
  int first;
  int stride;
  int count;
};

/// Sums over a slab; adding them up over all ranks, modulo 2^64, gives those of the lattice.
struct Tally {
  std::uint64_t satisfied_bonds;
  std::uint64_t up_spins;
  std::uint64_t hash;  ///< of every spin and its place
};
constexpr int tally_words = sizeof(Tally) / sizeof(std::uint64_t);
constexpr int tally_count = 4096;  ///< partial sums, one a GPU thread

/// Couplings and the random start of every spin of the slab; the halos of the spins are left alone.
void queue_start(const example::Stream& stream, const GlassView& glass, const Model& model);
/// One Metropolis update of all spins of one colour in those planes.
void queue_update(const example::Stream& stream, const GlassView& glass, const Metropolis& metropolis,
                  int colour, PlaneRange planes, std::uint32_t sweep, std::uint64_t seed);
/// Fills `tallies` (tally_count of them) with partial sums. Needs both colours' halos.
void queue_tally(const example::Stream& stream, const GlassView& glass, Tally* tallies);

}  // namespace ising
