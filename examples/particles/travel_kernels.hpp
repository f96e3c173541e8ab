// All particles of a rank on their way to new owners, as calls that queue kernels on a stream. Knows no MPI.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "examples/particles/cells.hpp"
#include "examples/particles/partition.hpp"
#include "examples/support/gpu.hpp"

namespace particles {

struct Traveller {
  Place place;
  Motion motion;
};

/// In device memory, those for or from rank 0 first.
struct Travellers {
  explicit Travellers(std::vector<int> counts);

  std::vector<int> counts;  ///< for or from each rank
  std::vector<int> starts;  ///< one more than ranks
  std::unique_ptr<const example::DeviceArray<Traveller>> memory;

  [[nodiscard]] int all() const { return starts.back(); }
};

/// Adds the first `count` movers to `in_voxels`, of each voxel of the box.
void queue_count_in_voxels(const example::Stream& stream, const Box& box, const Movers& movers,
                           std::uint32_t count, std::uint32_t* in_voxels);

/// Adds the first `count` movers to `counts` of each rank, by `owners` of their voxels.
void queue_count_travellers(const example::Stream& stream, const Box& box, const Movers& movers,
                            std::uint32_t count, const Owner* owners, std::uint32_t* counts);

/// The same, to `travellers`: for each rank from `starts` on, which then are where they end.
void queue_pack_travellers(const example::Stream& stream, const Box& box, const Movers& movers,
                           std::uint32_t count, const Owner* owners, std::uint32_t* starts,
                           Traveller* travellers);

/// So many travellers become movers.
void queue_settle(const example::Stream& stream, const Cells& cells, const Traveller* travellers,
                  std::uint32_t count, const Movers& movers);

}  // namespace particles
