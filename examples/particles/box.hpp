// Where particles are: positions as 32-bit fractions of the domain's sides, and the cells and voxels that
// they lie in. All of it is integer arithmetic, so that everyone agrees on a particle's cell and owner. For
// kernels and the host.
#pragma once

#include <cstdint>

#include "examples/support/philox.hpp"

namespace particles {

/// Three of cell or voxel coordinates.
struct Site {
  std::uint32_t at[3];
};

constexpr std::uint32_t no_identity = 0xFFFFFFFF;

/// A particle's position, in units of a 2^32th of the box's sides. Differences of coordinates, as signed
/// numbers, are those of the nearest periodic images.
struct alignas(16) Place {
  std::uint32_t at[3];
  std::uint32_t identity;
};

struct alignas(16) Motion {
  float velocity[3];
  std::uint32_t is_own;  ///< 0: belongs to another rank
};

/// The domain's bounding box, tiled by cells that are at least as wide as the cutoff, which is 1.
struct Box {
  double side[3];
  std::uint32_t cells[3];
  std::uint32_t voxels_per_cell;  ///< along each side

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t voxels(int axis) const {
    return cells[axis] * voxels_per_cell;
  }
  [[nodiscard]] Site voxels() const { return {{voxels(0), voxels(1), voxels(2)}}; }
  [[nodiscard]] EXAMPLE_HOST_DEVICE double voxel_side(int axis) const { return side[axis] / voxels(axis); }
  /// The length of a position's unit.
  [[nodiscard]] EXAMPLE_HOST_DEVICE double unit(int axis) const { return side[axis] / 4294967296.0; }

  /// The voxel of a position. A cell is voxels_per_cell of them along each side, exactly.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Site voxel_of(const Place& place) const {
    Site site{};
    for (int axis = 0; axis < 3; ++axis) {
      site.at[axis] = static_cast<std::uint32_t>(example::wide_product(place.at[axis], voxels(axis)) >> 32);
    }
    return site;
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE Site cell_of_voxel(const Site& voxel) const {
    return {{voxel.at[0] / voxels_per_cell, voxel.at[1] / voxels_per_cell, voxel.at[2] / voxels_per_cell}};
  }
  /// A voxel's number within its cell.
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t part_of_cell(const Site& voxel) const {
    return (voxel.at[2] % voxels_per_cell * voxels_per_cell + voxel.at[1] % voxels_per_cell) *
               voxels_per_cell +
           voxel.at[0] % voxels_per_cell;
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::uint32_t voxels_of_cell() const {
    return voxels_per_cell * voxels_per_cell * voxels_per_cell;
  }

  [[nodiscard]] std::int64_t cell_count() const { return std::int64_t{cells[0]} * cells[1] * cells[2]; }
  [[nodiscard]] std::int64_t voxel_count() const { return std::int64_t{voxels(0)} * voxels(1) * voxels(2); }
  /// The number of a cell or voxel, x fastest.
  [[nodiscard]] std::int64_t cell_index(const Site& cell) const {
    return (std::int64_t{cell.at[2]} * cells[1] + cell.at[1]) * cells[0] + cell.at[0];
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t voxel_index(const Site& voxel) const {
    return (std::int64_t{voxel.at[2]} * voxels(1) + voxel.at[1]) * voxels(0) + voxel.at[0];
  }
};

/// A coordinate that has moved by `step`, at most `limit` either way, along a side of `limit`, with wrap.
/// Hosts ask this for each cell and each around it: a division would take most of their time.
[[nodiscard]] inline std::uint32_t wrapped(std::uint32_t at, int step, std::uint32_t limit) {
  const std::int64_t to = std::int64_t{at} + step;
  return static_cast<std::uint32_t>(to < 0 ? to + limit : (to >= limit ? to - limit : to));
}

[[nodiscard]] inline Site moved(const Site& site, int x, int y, int z, const std::uint32_t (&limits)[3]) {
  return {{wrapped(site.at[0], x, limits[0]), wrapped(site.at[1], y, limits[1]),
           wrapped(site.at[2], z, limits[2])}};
}

/// Calls `use` with a site and the 26 around it.
template <typename Use>
void for_each_around(const Site& site, const std::uint32_t (&limits)[3], Use&& use) {
  std::uint32_t at[3][3];
  for (int axis = 0; axis < 3; ++axis) {
    for (int step = -1; step <= 1; ++step) {
      at[axis][step + 1] = wrapped(site.at[axis], step, limits[axis]);
    }
  }
  for (const std::uint32_t z : at[2]) {
    for (const std::uint32_t y : at[1]) {
      for (const std::uint32_t x : at[0]) {
        use(Site{{x, y, z}});
      }
    }
  }
}

/// Calls `use` with every site of a grid, x fastest.
template <typename Use>
void for_each_site(const std::uint32_t (&limits)[3], Use&& use) {
  for (std::uint32_t z = 0; z < limits[2]; ++z) {
    for (std::uint32_t y = 0; y < limits[1]; ++y) {
      for (std::uint32_t x = 0; x < limits[0]; ++x) {
        use(Site{{x, y, z}});
      }
    }
  }
}

}  // namespace particles
