// Vessels as lists of tapered capsules: a tube, a tree of bifurcations, or what a file says. Knows no box.
#pragma once

#include <string>
#include <vector>

#include "examples/particles/capsule.hpp"
#include "examples/particles/options.hpp"

namespace particles {

/// Capsules, or why there are none.
struct Vessels {
  std::vector<Capsule> capsules;
  std::string complaint;
};

/// As options.shape says, which is not a box.
[[nodiscard]] Vessels make_vessels(const Options& options);

}  // namespace particles
