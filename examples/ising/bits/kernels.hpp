// The four kernels of a glass of a bit a spin, as calls that queue them on a stream, for either layout.
// Knows no MPI: halos are just planes.
#pragma once

#include <cstdint>

#include "examples/ising/bits/spot.hpp"
#include "examples/ising/metropolis.hpp"
#include "examples/ising/planes.hpp"
#include "examples/ising/tally.hpp"
#include "examples/support/gpu.hpp"

namespace ising::bits {

/// Device memory of one rank. Spins: bit r of a word is replica r's. Couplings: a byte a site, as bonds_of()
/// gives them.
template <typename Layout>
struct GlassView {
  Layout layout;
  std::uint32_t* spins;
  std::uint8_t* couplings;
};

/// Metropolis' thresholds, bit by bit: a word is all ones if that bit of the threshold is one, else zero.
/// First index: 4, 5 or 6 satisfied bonds, less 4.
struct ThresholdBits {
  explicit ThresholdBits(const Metropolis& metropolis) {
    for (int bit = 0; bit < 32; ++bit) {
      for (int rule = 0; rule < 3; ++rule) {
        word[rule][bit] = (metropolis.threshold(rule + 4) >> bit & 1) != 0 ? 0xFFFFFFFF : 0;
      }
    }
  }

  std::uint32_t word[3][32];
};

/// Couplings and the start of every spin of one phase in those planes.
template <typename Layout>
void queue_start(const example::Stream& stream, const GlassView<Layout>& glass, int phase, PlaneRange planes,
                 const Model& model);
/// One Metropolis update of all spins of one phase in those planes.
template <typename Layout>
void queue_update(const example::Stream& stream, const GlassView<Layout>& glass,
                  const ThresholdBits& thresholds, int phase, PlaneRange planes, std::uint32_t sweep,
                  std::uint64_t seed);
/// Adds one phase's spins to `tallies`, or starts them with phase 0.
template <typename Layout>
void queue_tally(const example::Stream& stream, const GlassView<Layout>& glass, int phase, PlaneRange planes,
                 Tally* tallies);
/// Adds to `different` in how many sites of one phase replicas 0 and 1, 2 and 3, … differ.
template <typename Layout>
void queue_overlap(const example::Stream& stream, const GlassView<Layout>& glass, int phase,
                   PlaneRange planes, unsigned long long* different);

}  // namespace ising::bits
