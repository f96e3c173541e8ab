#include "examples/dslash/sums.hpp"

#include <algorithm>

namespace dslash {
namespace {

/// Of slices, then totals.
std::size_t numbers(const Slab& slab, int sides) {
  return static_cast<std::size_t>(sides) * static_cast<std::size_t>(slab.slices + 1) * most_sums;
}

std::size_t counters(const Slab& slab, int sides) {
  return static_cast<std::size_t>(sides) * static_cast<std::size_t>(slab.slices + 1);
}

}  // namespace

std::size_t Sums::most_blocks(const Slab& slab) {
  constexpr int least_sites_of_block = 128;
  return static_cast<std::size_t>(slab.face_sites() / least_sites_of_block + 1) *
         static_cast<std::size_t>(slab.slices);
}

std::size_t Sums::device_bytes(const Slab& slab, int sides) {
  return (static_cast<std::size_t>(sides) * most_blocks(slab) * most_sums + numbers(slab, sides)) *
             sizeof(double) +
         counters(slab, sides) * sizeof(unsigned);
}

Sums::Sums(const Team& team, Reduction reduction, example::Exchange exchange, int sides)
    : team_(team),
      reduction_(reduction),
      is_on_device_(team.size > 1 && exchange == example::Exchange::device),
      partials_(static_cast<std::size_t>(sides) * most_blocks(team.slab) * most_sums),
      arrived_(counters(team.slab, sides)),
      on_device_(numbers(team.slab, sides)),
      on_host_(numbers(team.slab, sides)),
      of_all_slices_(static_cast<std::size_t>(sides * team.slab.lattice.t) * most_sums),
      first_total_(std::ptrdiff_t{sides} * team.slab.slices * most_sums) {
  example::check(cudaMemset(arrived_.get(), 0, counters(team.slab, sides) * sizeof(unsigned)),
                 "clear counters");
  example::check(cudaMemset(on_device_.get(), 0, numbers(team.slab, sides) * sizeof(double)), "clear sums");
  example::check(cudaDeviceSynchronize(), "wait for cleared sums");
  double* mapped = on_device_.get();
  if (!is_on_device_) {
    std::fill_n(on_host_.get(), numbers(team.slab, sides), 0.0);
    example::check(cudaHostGetDevicePointer(&mapped, on_host_.get(), 0), "map sums");
  }
  room_ = {partials_.get(), arrived_.get(), mapped, mapped + first_total_};
}

Sums::OfSides Sums::finish(const example::Stream& stream, const Selection& sides) {
  const example::NamedRange range("sum over ranks");
  OfSides sums{};
  if (sides.count == 0) {
    return sums;
  }
  stream.synchronize();
  const double* const own = is_on_device_ ? on_device_.get() : on_host_.get();
  const int of_side = team_.slab.slices * most_sums;
  std::array<double, std::size_t{most_sides} * most_sums> found{};  // side by side
  if (team_.size == 1) {
    std::copy_n(own + first_total_, sides.count * most_sums, found.begin());
  } else if (reduction_ == Reduction::allreduce) {
    MPI_Allreduce(own + first_total_, found.data(), sides.count * most_sums, MPI_DOUBLE, MPI_SUM,
                  team_.communicator);
  } else {
    MPI_Allgather(own, sides.count * of_side, MPI_DOUBLE, of_all_slices_.data(), sides.count * of_side,
                  MPI_DOUBLE, team_.communicator);
    const double* next = of_all_slices_.data();
    for (int rank = 0; rank < team_.size; ++rank) {
      for (int side = 0; side < sides.count; ++side) {
        for (int i = 0; i < of_side; ++i) {
          found[static_cast<std::size_t>(side * most_sums + i % most_sums)] += *next++;
        }
      }
    }
  }
  for (int side = 0; side < sides.count; ++side) {
    std::copy_n(found.begin() + side * most_sums, most_sums,
                sums[static_cast<std::size_t>(sides.field_of(side))].begin());
  }
  return sums;
}

}  // namespace dslash
