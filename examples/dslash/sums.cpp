#include "examples/dslash/sums.hpp"

#include <algorithm>

namespace dslash {
namespace {

/// Of a slice of this rank.
int z_blocks_of_rank(const Team& team, Reduction reduction) {
  return reduction == Reduction::by_slice ? z_blocks_of_sums(team.slab.lattice) / team.ranks_along_z : 1;
}

/// Of blocks of planes, then totals.
std::size_t numbers(const Slab& slab, int z_blocks, int sides) {
  return static_cast<std::size_t>(sides) * static_cast<std::size_t>(slab.slices * z_blocks + 1) * most_sums;
}

std::size_t counters(const Slab& slab, int sides) {
  return static_cast<std::size_t>(sides) * static_cast<std::size_t>(slab.slices + 1);
}

std::size_t most_partials(const Slab& slab, int z_blocks, int sides) {
  constexpr int least_sites_of_block = 128;
  return static_cast<std::size_t>(sides) *
         static_cast<std::size_t>(slab.face_sites() / least_sites_of_block + z_blocks) *
         static_cast<std::size_t>(slab.slices) * most_sums;
}

}  // namespace

std::size_t Sums::device_bytes(const Team& team, Reduction reduction, int sides) {
  const int z_blocks = z_blocks_of_rank(team, reduction);
  return (most_partials(team.slab, z_blocks, sides) + numbers(team.slab, z_blocks, sides)) * sizeof(double) +
         counters(team.slab, sides) * sizeof(unsigned);
}

Sums::Sums(const Team& team, Reduction reduction, example::Exchange exchange, int sides)
    : team_(team),
      reduction_(reduction),
      z_blocks_(z_blocks_of_rank(team, reduction)),
      is_on_device_(team.size > 1 && exchange == example::Exchange::device),
      partials_(most_partials(team.slab, z_blocks_, sides)),
      arrived_(counters(team.slab, sides)),
      on_device_(numbers(team.slab, z_blocks_, sides)),
      on_host_(numbers(team.slab, z_blocks_, sides)),
      of_all_blocks_(numbers(team.slab, z_blocks_, sides) * static_cast<std::size_t>(team.size)),
      first_total_(std::ptrdiff_t{sides} * team.slab.slices * z_blocks_ * most_sums) {
  const std::size_t count = numbers(team.slab, z_blocks_, sides);
  example::check(cudaMemset(arrived_.get(), 0, counters(team.slab, sides) * sizeof(unsigned)),
                 "clear counters");
  example::check(cudaMemset(on_device_.get(), 0, count * sizeof(double)), "clear sums");
  example::check(cudaDeviceSynchronize(), "wait for cleared sums");
  room_ = {partials_.get(), arrived_.get(), on_device_.get(), nullptr, on_device_.get() + first_total_,
           z_blocks_};
  if (!is_on_device_) {
    std::fill_n(on_host_.get(), count, 0.0);
    double* mapped = nullptr;
    example::check(cudaHostGetDevicePointer(&mapped, on_host_.get(), 0), "map sums");
    room_.z_block_sums_on_host = reduction == Reduction::by_slice ? mapped : nullptr;
    room_.totals = mapped + first_total_;
  }
}

Sums::OfSides Sums::finish(const example::Stream& stream, const Selection& sides) {
  const example::NamedRange range("sum over ranks");
  OfSides sums{};
  if (sides.count == 0) {
    return sums;
  }
  stream.synchronize();
  const double* const own = is_on_device_ ? on_device_.get() : on_host_.get();
  std::array<double, std::size_t{most_sides} * most_sums> found{};  // side by side
  if (team_.size == 1) {
    std::copy_n(own + first_total_, sides.count * most_sums, found.begin());
  } else if (reduction_ == Reduction::allreduce) {
    MPI_Allreduce(own + first_total_, found.data(), sides.count * most_sums, MPI_DOUBLE, MPI_SUM,
                  team_.communicator);
  } else {
    const int count = sides.count * team_.slab.slices * z_blocks_ * most_sums;
    MPI_Allgather(own, count, MPI_DOUBLE, of_all_blocks_.data(), count, MPI_DOUBLE, team_.communicator);
    for (int side = 0; side < sides.count; ++side) {
      for (int i = 0; i < most_sums; ++i) {
        found[static_cast<std::size_t>(side * most_sums + i)] = sum_of_blocks(sides.count, side, i);
      }
    }
  }
  for (int side = 0; side < sides.count; ++side) {
    std::copy_n(found.begin() + side * most_sums, most_sums,
                sums[static_cast<std::size_t>(sides.field_of(side))].begin());
  }
  return sums;
}

/// In the order of kernels on one rank: a slice's blocks of planes, which ranks along z have, then slices.
double Sums::sum_of_blocks(int sides, int side, int i) const {
  const int of_slice = z_blocks_ * most_sums;
  const int of_side = team_.slab.slices * of_slice;
  double sum = 0;
  for (int first_rank = 0; first_rank < team_.size; first_rank += team_.ranks_along_z) {
    for (int slice = 0; slice < team_.slab.slices; ++slice) {
      double slice_sum = 0;
      for (int rank = first_rank; rank < first_rank + team_.ranks_along_z; ++rank) {
        const int first = (rank * sides + side) * of_side + slice * of_slice;
        for (int z_block = 0; z_block < z_blocks_; ++z_block) {
          slice_sum += of_all_blocks_[static_cast<std::size_t>(first + z_block * most_sums + i)];
        }
      }
      sum += slice_sum;
    }
  }
  return sum;
}

}  // namespace dslash
