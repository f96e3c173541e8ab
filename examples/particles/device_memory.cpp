#include "examples/particles/device_memory.hpp"

namespace particles {
namespace {

/// Whether a particle of a cell may come to the wall within a step, in which it moves by less than a voxel
/// along each axis.
std::vector<std::uint8_t> cells_near_wall(const Tiling& tiling, const Domain& domain) {
  std::vector<std::uint8_t> is_near;
  if (domain.capsules.empty()) {
    return is_near;
  }
  const Box& box = tiling.box;
  const double move = length({box.voxel_side(0), box.voxel_side(1), box.voxel_side(2)});
  const Wall wall = domain.wall();
  for (const Site& cell : tiling.cells) {
    const Ball ball = around(box, cell, box.cells);
    is_near.push_back(
        surface_of(wall.capsules, wall.count, ball.centre).distance > -(ball.radius + move) ? 1 : 0);
  }
  return is_near;
}

template <typename... Element>
std::int64_t bytes_of(const std::vector<Element>&... vectors) {
  return (static_cast<std::int64_t>(vectors.size() * sizeof(Element)) + ...);
}

}  // namespace

DeviceTiling::DeviceTiling(const Tiling& tiling, const Domain& domain)
    : row_starts_(tiling.array.row_starts),
      x_(tiling.array.x),
      local_(tiling.array.local),
      segment_starts_(tiling.segment_starts),
      segments_(tiling.segments),
      connections_(tiling.connections),
      is_near_wall_(cells_near_wall(tiling, domain)),
      capsules_(domain.capsules),
      cells_{tiling.box,
             tiling.classes,
             {tiling.array.low[0], tiling.array.low[1]},
             {tiling.array.extent[0], tiling.array.extent[1]},
             row_starts_.get(),
             x_.get(),
             local_.get(),
             segment_starts_.get(),
             segments_.get(),
             connections_.get(),
             domain.capsules.empty() ? nullptr : is_near_wall_.get()},
      wall_{capsules_.get(), static_cast<int>(domain.capsules.size()), domain.bounces_back} {
  // A copy of little from pageable memory may return before it has arrived.
  example::check(cudaDeviceSynchronize(), "wait for copies to the GPU");
}

std::int64_t DeviceTiling::bytes(const Tiling& tiling) {
  return bytes_of(tiling.array.row_starts, tiling.array.x, tiling.array.local, tiling.segment_starts,
                  tiling.segments, tiling.connections) +
         static_cast<std::int64_t>(tiling.cells.size());
}

ParticleMemory::ParticleMemory(const Classes& classes, const Rooms& rooms)
    : rooms_(rooms),
      counts_stride_(std::int64_t{classes.all} + 1),
      moved_places_(rooms.particles),
      moved_motions_(rooms.particles),
      moved_cells_(rooms.particles),
      moved_turns_(rooms.particles),
      counts_(2 * static_cast<std::size_t>(counts_stride_)),
      places_(rooms.particles),
      motions_(rooms.particles),
      cells_(rooms.particles),
      starts_(static_cast<std::size_t>(counts_stride_)),
      rim_places_(rooms.rim),
      rim_motions_(rooms.rim),
      rim_cells_(rooms.rim),
      arrival_cells_(rooms.arrivals),
      arrival_turns_(rooms.arrivals),
      rim_counts_(classes.rim() + std::size_t{1}),
      rim_starts_(classes.rim() + std::size_t{1}),
      status_(1) {}

std::int64_t ParticleMemory::bytes(const Classes& classes, const Rooms& rooms) {
  constexpr std::int64_t state = sizeof(Place) + sizeof(Motion);
  constexpr std::int64_t word = sizeof(std::uint32_t);
  return rooms.particles * (2 * state + 3 * word) + rooms.rim * (state + word) + rooms.arrivals * 2 * word +
         std::int64_t{classes.all} * 3 * word + std::int64_t{classes.rim()} * 2 * word +
         std::int64_t{sizeof(Status)};
}

}  // namespace particles
