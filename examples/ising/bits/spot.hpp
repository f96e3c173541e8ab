// Where the kernels find a site: what a layout of one word a site must say.
#pragma once

#include "examples/ising/lattice.hpp"
#include "examples/ising/planes.hpp"

namespace ising::bits {

/// A site of the lattice, and the positions of its word and of its neighbours': −x, +x, −y, +y, −z, +z.
/// Positions are 31-bit numbers: 64-bit index arithmetic would cost a tenth of an update.
struct Spot {
  Site site;
  int word;
  int neighbours[6];
};

}  // namespace ising::bits
