// The domain that options describe: its bounding box, its vessel, and how much of each voxel lies inside.
// Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/capsule.hpp"
#include "examples/particles/options.hpp"
#include "examples/particles/start.hpp"

namespace particles {

struct Domain {
  Box box{};
  std::vector<Capsule> capsules;  ///< none: the whole box, periodic
  bool bounces_back = false;
  std::string complaint;  ///< why there is none, or nothing
};

[[nodiscard]] Domain make_domain(const Options& options);

[[nodiscard]] Start make_start(const Options& options, const Domain& domain);

/// What is too large for the numbers here, or nothing.
[[nodiscard]] std::string size_complaint(const Domain& domain, const Start& start);

/// For each voxel the eighths of it that are inside, 1 at least if any point may be, else 0.
[[nodiscard]] std::vector<std::uint8_t> fluid_of(const Domain& domain);

/// The middle of a box of `parts` such boxes along the side of the whole, and half of its diagonal.
struct Ball {
  Vector centre;
  double radius;
};
[[nodiscard]] Ball around(const Box& box, const Site& site, const std::uint32_t (&parts)[3]);

}  // namespace particles
