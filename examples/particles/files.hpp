// What other programs show: the pieces of a partition, and particles. Knows no MPI and no GPU.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/partition.hpp"

namespace particles {

/// The surfaces of all pieces as a PLY file of squares, each with its piece and a colour for it; each piece's
/// is closed. What went wrong, or nothing.
[[nodiscard]] std::string write_ply(const std::string& path, const Box& box, const Owners& owners);

/// Particles as an extended XYZ file, by their identities. What went wrong, or nothing.
[[nodiscard]] std::string write_xyz(const std::string& path, const Box& box, bool is_periodic,
                                    std::int64_t step, std::vector<Place> places);

}  // namespace particles
