// How particles act on each other, as options say.
#pragma once

#include <variant>

#include "examples/particles/dissipation.hpp"
#include "examples/particles/lennard_jones.hpp"
#include "examples/particles/options.hpp"
#include "examples/particles/pair.hpp"

namespace particles {

/// Each kernel that sums forces is compiled for each of these.
using Model = std::variant<Repulsion, LennardJones, ForceShiftedLennardJones, Dissipation>;

[[nodiscard]] inline Model make_model(const Options& options, const Box& box) {
  if (options.pair == PairForce::lennard_jones) {
    return LennardJones(box);
  }
  if (options.pair == PairForce::lennard_jones_force_shifted) {
    return ForceShiftedLennardJones(box);
  }
  if (options.dpd) {
    return Dissipation(box, options.repulsion, options.dpd->friction, options.dpd->temperature,
                       options.time_step, options.seed);
  }
  return Repulsion(box, options.repulsion);
}

}  // namespace particles
