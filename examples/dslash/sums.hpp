// Sums over all sites of all ranks, which kernels leave for each block of planes of a slice and for the rank.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <vector>

#include "examples/dslash/settings.hpp"
#include "examples/dslash/team.hpp"
#include "examples/dslash/views.hpp"
#include "examples/support/gpu.hpp"

namespace dslash {

class Sums {
 public:
  using Four = std::array<double, most_sums>;
  using OfSides = std::array<Four, most_sides>;  ///< found by the field

  Sums(const Team& team, Reduction reduction, example::Exchange exchange, int sides);

  [[nodiscard]] static std::size_t device_bytes(const Team& team, Reduction reduction, int sides);

  /// For one kernel at a time.
  [[nodiscard]] const SumRoom& room() const { return room_; }

  /// Over all ranks, once the kernel that was queued on `stream` for those sides is done. Collective.
  [[nodiscard]] OfSides finish(const example::Stream& stream, const Selection& sides);

 private:
  [[nodiscard]] double sum_of_blocks(int sides, int side, int i) const;

  Team team_;
  Reduction reduction_;
  int z_blocks_;
  bool is_on_device_;  ///< MPI gets device pointers; else kernels write sums to mapped host memory
  example::DeviceArray<double> partials_;
  example::DeviceArray<unsigned> arrived_;
  example::DeviceArray<double> on_device_;
  example::PinnedArray<double> on_host_;
  std::vector<double> of_all_blocks_;  ///< of planes: rank by rank, side by side, slice by slice
  std::ptrdiff_t first_total_;         ///< in kernels' sums; those of blocks of planes come first
  SumRoom room_{};
};

}  // namespace dslash
