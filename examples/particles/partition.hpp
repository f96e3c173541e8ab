// Who owns which voxel. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/options.hpp"

namespace particles {

using Owner = std::int16_t;
constexpr Owner no_owner = -1;

/// For each voxel its owner, or no_owner if it is not fluid.
using Owners = std::vector<Owner>;

/// A partition, or why there is none.
struct Partition {
  Owners owners;
  std::string complaint;
};

[[nodiscard]] Partition make_partition(const Options& options, const Box& box,
                                       const std::vector<std::uint8_t>& fluid);

/// With `owners` of fluid voxels in pieces of about the same volume and with little surface. Needs libscotch.
[[nodiscard]] Partition cut_by_scotch(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                                      std::uint64_t seed);

/// The same by libmetis.
[[nodiscard]] Partition cut_by_metis(const Box& box, const std::vector<std::uint8_t>& fluid, int pieces,
                                     std::uint64_t seed);

/// Whether they were there when this was built.
[[nodiscard]] bool has_scotch();
[[nodiscard]] bool has_metis();

/// What went wrong, or nothing.
[[nodiscard]] std::string write_partition(const std::string& path, const Box& box, int pieces,
                                          const Owners& owners);

}  // namespace particles
