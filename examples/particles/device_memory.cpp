#include "examples/particles/device_memory.hpp"

#include <algorithm>

#include "examples/particles/capsule_index.hpp"

namespace particles {
namespace {

/// For each cell whose particles may come to the wall within a step, in which they move by less than a voxel
/// along each axis, the capsules that they may be in.
CapsulesOfCells capsules_of_cells(const Tiling& tiling, const Domain& domain) {
  CapsulesOfCells found;
  if (domain.capsules.empty()) {
    return found;
  }
  const Box& box = tiling.box;
  const double move = length({box.voxel_side(0), box.voxel_side(1), box.voxel_side(2)});
  const CapsuleIndex index(box, domain.capsules);
  for (const Site& cell : tiling.cells) {
    found.starts.push_back(static_cast<std::uint32_t>(found.capsules.size()));
    const Ball ball = around(box, cell, box.cells);
    const double within = std::min(ball.radius + move, CapsuleIndex::reach);
    if (index.distance(ball.centre) > -within) {
      for (const std::uint32_t capsule : index.near(ball.centre)) {
        if (surface_of(domain.capsules[capsule], ball.centre).distance <= within) {
          found.capsules.push_back(domain.capsules[capsule]);
        }
      }
    }
  }
  found.starts.push_back(static_cast<std::uint32_t>(found.capsules.size()));
  return found;
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
      capsules_of_cells_(capsules_of_cells(tiling, domain)),
      capsule_starts_(capsules_of_cells_.starts),
      capsules_(capsules_of_cells_.capsules),
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
             domain.capsules.empty() ? nullptr : capsule_starts_.get(),
             capsules_.get(),
             domain.bounces_back} {
  // A copy of little from pageable memory may return before it has arrived.
  example::check(cudaDeviceSynchronize(), "wait for copies to the GPU");
}

std::int64_t DeviceTiling::bytes(const Tiling& tiling, const Domain& domain) {
  // Beside the wall, two capsules a cell; most have one.
  const std::int64_t wall_bytes =
      domain.capsules.empty()
          ? 0
          : static_cast<std::int64_t>(tiling.cells.size() * (sizeof(std::uint32_t) + 2 * sizeof(Capsule)));
  return bytes_of(tiling.array.row_starts, tiling.array.x, tiling.array.local, tiling.segment_starts,
                  tiling.segments, tiling.connections) +
         wall_bytes;
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
