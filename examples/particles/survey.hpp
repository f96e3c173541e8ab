// How the pieces of a partition look: how even they are, how much surface they have, and what would be sent.
// Knows no MPI.
#pragma once

#include <cstdint>

#include "examples/particles/partition.hpp"

namespace particles {

struct Survey {
  int pieces = 1;
  std::int64_t voxels = 0;
  double imbalance = 0;        ///< the largest piece's volume over the mean, less 1
  std::int64_t edge_cut = 0;   ///< faces between voxels of two pieces
  double mean_neighbours = 0;  ///< of a piece: those within the cutoff
  int most_neighbours = 0;
  double sent_share =
      0;  ///< of all particles: sent to a neighbour, in each step, counted as often as it is sent
  double sent_to_all_share = 0;  ///< … if particles near any were sent to all neighbours
};

[[nodiscard]] Survey survey(const Box& box, const std::vector<std::uint8_t>& fluid, const Owners& owners,
                            int pieces);

}  // namespace particles
