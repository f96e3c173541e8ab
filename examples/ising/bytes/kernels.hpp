// The three kernels of a glass of a byte a spin, as calls that queue them on a stream. Knows no MPI: halos
// are just planes.
#pragma once

#include <cstdint>

#include "examples/ising/bytes/slab.hpp"
#include "examples/ising/metropolis.hpp"
#include "examples/ising/planes.hpp"
#include "examples/ising/tally.hpp"
#include "examples/support/gpu.hpp"

namespace ising::bytes {

/// Device memory of one rank's slab: index is the colour. In a word of couplings, each byte holds the six
/// bonds of its site, as bonds_of() gives them.
struct GlassView {
  Slab slab;
  std::uint32_t* spins[2];
  std::uint32_t* couplings[2];

  // A kernel's parameters that are indexed at run time would be copied to local memory.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t* spins_of(int colour) const {
    return colour == 0 ? spins[0] : spins[1];
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t* couplings_of(int colour) const {
    return colour == 0 ? couplings[0] : couplings[1];
  }
};

/// Couplings and the random start of every spin of the slab; the halos of the spins are left alone.
void queue_start(const example::Stream& stream, const GlassView& glass, const Model& model);
/// One Metropolis update of all spins of one colour in those planes.
void queue_update(const example::Stream& stream, const GlassView& glass, const Metropolis& metropolis,
                  int colour, PlaneRange planes, std::uint32_t sweep, std::uint64_t seed);
/// Fills `tallies` (tally_count of them) with partial sums. Needs both colours' halos.
void queue_tally(const example::Stream& stream, const GlassView& glass, Tally* tallies);

}  // namespace ising::bytes
