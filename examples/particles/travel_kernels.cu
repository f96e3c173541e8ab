#include "examples/particles/travel_kernels.hpp"

#include <numeric>
#include <utility>

#include "examples/particles/kernel_tools.hpp"

namespace particles {
namespace {

__device__ std::int64_t voxel_index(const Box& box, const Place& place) {
  return box.voxel_index(box.voxel_of(place));
}

std::vector<int> sums_of(const std::vector<int>& counts) {
  std::vector<int> sums(counts.size() + 1);
  std::partial_sum(counts.begin(), counts.end(), sums.begin() + 1);
  return sums;
}

/// Calls `use` with the index of a mover that is a particle of this rank.
template <typename Use>
__device__ void with_mover(const Movers& movers, std::uint32_t count, Use&& use) {
  const std::uint32_t index = thread_index();
  if (index < count && movers.cells[index] != no_cell) {
    use(index);
  }
}

}  // namespace

// Not in the unnamed namespace: profilers show these names.
namespace kernels {

__global__ void count_in_voxels(Box box, Movers movers, std::uint32_t count, std::uint32_t* in_voxels) {
  with_mover(movers, count,
             [&](std::uint32_t index) { atomicAdd(&in_voxels[voxel_index(box, movers.places[index])], 1U); });
}

__global__ void count_travellers(Box box, Movers movers, std::uint32_t count, const Owner* owners,
                                 std::uint32_t* counts) {
  with_mover(movers, count, [&](std::uint32_t index) {
    atomicAdd(&counts[owners[voxel_index(box, movers.places[index])]], 1U);
  });
}

__global__ void pack_travellers(Box box, Movers movers, std::uint32_t count, const Owner* owners,
                                std::uint32_t* starts, Traveller* travellers) {
  with_mover(movers, count, [&](std::uint32_t index) {
    const Place place = movers.places[index];
    const std::uint32_t at = atomicAdd(&starts[owners[voxel_index(box, place)]], 1U);
    travellers[at] = {place, movers.motions[index]};
  });
}

__global__ void settle(Cells cells, const Traveller* travellers, std::uint32_t count, Movers movers) {
  const std::uint32_t index = thread_index();
  if (index < count) {
    const Traveller traveller = travellers[index];
    movers.places[index] = traveller.place;
    movers.motions[index] = traveller.motion;
    enter(movers, index, cells.find(traveller.place));
  }
}

}  // namespace kernels

Travellers::Travellers(std::vector<int> counts_of_ranks)
    : counts(std::move(counts_of_ranks)),
      starts(sums_of(counts)),
      memory(std::make_unique<const example::DeviceArray<Traveller>>(static_cast<std::size_t>(all()) + 1)) {}

void queue_count_in_voxels(const example::Stream& stream, const Box& box, const Movers& movers,
                           std::uint32_t count, std::uint32_t* in_voxels) {
  if (count > 0) {
    example::launch(stream, count, kernels::count_in_voxels, box, movers, count, in_voxels);
  }
}

void queue_count_travellers(const example::Stream& stream, const Box& box, const Movers& movers,
                            std::uint32_t count, const Owner* owners, std::uint32_t* counts) {
  if (count > 0) {
    example::launch(stream, count, kernels::count_travellers, box, movers, count, owners, counts);
  }
}

void queue_pack_travellers(const example::Stream& stream, const Box& box, const Movers& movers,
                           std::uint32_t count, const Owner* owners, std::uint32_t* starts,
                           Traveller* travellers) {
  if (count > 0) {
    example::launch(stream, count, kernels::pack_travellers, box, movers, count, owners, starts, travellers);
  }
}

void queue_settle(const example::Stream& stream, const Cells& cells, const Traveller* travellers,
                  std::uint32_t count, const Movers& movers) {
  if (count > 0) {
    example::launch(stream, count, kernels::settle, cells, travellers, count, movers);
  }
}

}  // namespace particles
