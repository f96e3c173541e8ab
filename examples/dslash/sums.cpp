#include "examples/dslash/sums.hpp"

#include <algorithm>

namespace dslash {
namespace {

std::size_t numbers(const Slab& slab) {
  return static_cast<std::size_t>(slab.slices + 1) * most_sums;
}

}  // namespace

std::size_t Sums::most_blocks(const Slab& slab) {
  constexpr int least_sites_of_block = 128;
  return static_cast<std::size_t>(slab.face_sites() / least_sites_of_block + 1) *
         static_cast<std::size_t>(slab.slices);
}

std::size_t Sums::device_bytes(const Slab& slab) {
  return (most_blocks(slab) * most_sums + numbers(slab)) * sizeof(double) +
         static_cast<std::size_t>(slab.slices + 1) * sizeof(unsigned);
}

Sums::Sums(const Team& team, Reduction reduction, example::Exchange exchange)
    : team_(team),
      reduction_(reduction),
      is_on_device_(team.size > 1 && exchange == example::Exchange::device),
      partials_(most_blocks(team.slab) * most_sums),
      arrived_(static_cast<std::size_t>(team.slab.slices) + 1),
      on_device_(numbers(team.slab)),
      on_host_(numbers(team.slab)),
      of_all_slices_(static_cast<std::size_t>(team.slab.lattice.t) * most_sums) {
  example::check(
      cudaMemset(arrived_.get(), 0, (static_cast<std::size_t>(team.slab.slices) + 1) * sizeof(unsigned)),
      "clear counters");
  example::check(cudaMemset(on_device_.get(), 0, numbers(team.slab) * sizeof(double)), "clear sums");
  example::check(cudaDeviceSynchronize(), "wait for cleared sums");
  double* mapped = on_device_.get();
  if (!is_on_device_) {
    std::fill_n(on_host_.get(), numbers(team.slab), 0.0);
    example::check(cudaHostGetDevicePointer(&mapped, on_host_.get(), 0), "map sums");
  }
  room_ = {partials_.get(), arrived_.get(), mapped, mapped + team.slab.slices * most_sums};
}

Sums::Four Sums::finish(const example::Stream& stream) {
  const example::NamedRange range("sum over ranks");
  stream.synchronize();
  const double* const own = is_on_device_ ? on_device_.get() : on_host_.get();
  const int own_count = team_.slab.slices * most_sums;
  Four sums{};
  if (team_.size == 1) {
    std::copy_n(own + own_count, most_sums, sums.begin());
  } else if (reduction_ == Reduction::allreduce) {
    MPI_Allreduce(own + own_count, sums.data(), most_sums, MPI_DOUBLE, MPI_SUM, team_.communicator);
  } else {
    MPI_Allgather(own, own_count, MPI_DOUBLE, of_all_slices_.data(), own_count, MPI_DOUBLE,
                  team_.communicator);
    for (std::size_t i = 0; i < of_all_slices_.size(); ++i) {
      sums[i % most_sums] += of_all_slices_[i];
    }
  }
  return sums;
}

}  // namespace dslash
