// Sites of the lattice, and which of them a rank holds. Time slices, and planes of one z, are spread over the
// ranks in order; a site is even or odd by its global coordinates. Knows no GPU call, no MPI.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace dslash {

constexpr int dimensions = 4;
constexpr int z_direction = 2;
constexpr int time_direction = 3;

/// Faces between ranks. Upper ones go forwards, in time or along z, lower ones backwards.
enum Face { t_upper, t_lower, z_upper, z_lower };
constexpr int most_faces = 4;

struct Lattice {
  int x = 8;
  int y = 8;
  int z = 8;
  int t = 16;

  [[nodiscard]] bool operator==(const Lattice&) const = default;
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t spatial_sites() const { return std::int64_t{x} * y * z; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t sites() const { return spatial_sites() * t; }
};

/// Coordinates in the whole lattice.
struct Site {
  int x;
  int y;
  int z;
  int t;
};

/// Where a site is in the whole lattice: what random numbers are drawn by.
EXAMPLE_HOST_DEVICE inline std::uint64_t global_index(const Lattice& lattice, Site site) {
  return ((static_cast<std::uint64_t>(site.t) * static_cast<unsigned>(lattice.z) +
           static_cast<unsigned>(site.z)) *
              static_cast<unsigned>(lattice.y) +
          static_cast<unsigned>(site.y)) *
             static_cast<unsigned>(lattice.x) +
         static_cast<unsigned>(site.x);
}

EXAMPLE_HOST_DEVICE inline int parity_of(Site site) {
  return (site.x + site.y + site.z + site.t) & 1;
}

/// The neighbour one step forwards; the lattice is periodic.
EXAMPLE_HOST_DEVICE inline Site forward(const Lattice& lattice, Site site, int direction) {
  int* const coordinates[] = {&site.x, &site.y, &site.z, &site.t};
  const int extents[] = {lattice.x, lattice.y, lattice.z, lattice.t};
  int& coordinate = *coordinates[direction];
  coordinate = coordinate + 1 == extents[direction] ? 0 : coordinate + 1;
  return site;
}

/// The slices of a rank, and their planes of one z that it holds. Sites of one parity are numbered with x,
/// which takes half a row, running fastest.
struct Slab {
  Lattice lattice;
  int first_slice = 0;
  int slices = 16;
  int first_plane = 0;
  int planes = 8;

  /// Sites of one parity in a plane.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int plane_sites() const { return lattice.x / 2 * lattice.y; }
  /// Sites of one parity in a slice: what one face in time has.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int face_sites() const { return plane_sites() * planes; }
  /// What one face along z has.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int z_face_sites() const { return plane_sites() * slices; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE int sites_of(Face face) const {
    return face == t_upper || face == t_lower ? face_sites() : z_face_sites();
  }
  /// Sites of one parity.
  [[nodiscard]] EXAMPLE_HOST_DEVICE int sites() const { return face_sites() * slices; }
  /// Whether other ranks have the neighbours in time, or along z.
  [[nodiscard]] EXAMPLE_HOST_DEVICE bool is_split_in_time() const { return slices != lattice.t; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE bool is_split_along_z() const { return planes != lattice.z; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE bool has(Face face) const {
    return face == t_upper || face == t_lower ? is_split_in_time() : is_split_along_z();
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE Site site(int parity, int index) const {
    const int half_x = lattice.x / 2;
    const int row = index / half_x;
    const int plane = row / lattice.y;
    const int slice = plane / planes;
    const int y = row - plane * lattice.y;
    const int z = first_plane + plane - slice * planes;
    const int t = first_slice + slice;
    return {2 * (index - row * half_x) + ((y + z + t + parity) & 1), y, z, t};
  }
};

/// Sums that must have the same bits for any ranks are of so many blocks of planes in each slice, which ranks
/// along z share.
[[nodiscard]] inline int z_blocks_of_sums(const Lattice& lattice) {
  return lattice.z % 4 == 0 && lattice.z >= 8 ? 4 : 2;
}

/// So many ranks, one after the other, are along z; the others split time.
[[nodiscard]] inline Slab slab_of_rank(const Lattice& lattice, int rank, int rank_count, int along_z) {
  const int slices = lattice.t / (rank_count / along_z);
  const int planes = lattice.z / along_z;
  return {lattice, rank / along_z * slices, slices, rank % along_z * planes, planes};
}

}  // namespace dslash
