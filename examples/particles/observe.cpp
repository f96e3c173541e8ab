// What a simulation tells of its particles: sums over all ranks, and all of them on rank 0.
#include <numeric>

#include "examples/particles/simulation.hpp"

namespace particles {

void Simulation::clear_totals() {
  example::check(cudaMemsetAsync(totals_.get(), 0, sizeof(Totals), boundary_.get()), "clear sums");
}

void Simulation::sum_over_ranks(Totals& totals) {
  example::check(cudaMemcpyAsync(&totals, totals_.get(), sizeof totals, cudaMemcpyDefault, boundary_.get()),
                 "copy sums");
  boundary_.synchronize();
  MPI_Allreduce(MPI_IN_PLACE, &totals, totals_words, MPI_UINT64_T, MPI_SUM, communicator_);
}

Totals Simulation::count() {
  Totals totals{};
  synchronize();
  clear_totals();
  if (halted_.empty()) {
    queue_count(boundary_, memory_->moved(), mover_count_, totals_.get());
  }
  sum_over_ranks(totals);
  return totals;
}

Totals Simulation::observe() {
  Totals totals{};
  sort_all();
  set_mover();
  mover_.kick = history_.steps == 0 ? 0 : mover_.step / 2;
  clear_totals();
  if (halted_.empty()) {
    queue_count(boundary_, memory_->moved(), mover_count_, totals_.get());
    queue_observe(boundary_, device_tiling_->cells(), memory_->sorted(), model_, mover_,
                  status_.get()->ends[2] + exchange_.inbox().come(), totals_.get());
  }
  sum_over_ranks(totals);
  return totals;
}

std::vector<Particle> Simulation::gather() {
  sort_all();
  std::vector<Particle> own;
  if (halted_.empty()) {
    const std::uint32_t end = status_.get()->ends[2] + exchange_.inbox().come();
    const Sorted sorted = memory_->sorted();
    const example::DeviceArray<Force> forces(end + std::size_t{1});
    queue_forces(boundary_, device_tiling_->cells(), sorted, model_,
                 static_cast<std::uint32_t>(history_.steps), end, forces.get());
    boundary_.synchronize();
    std::uint32_t sorted_end = 0;
    example::check(
        cudaMemcpy(&sorted_end, sorted.starts + tiling_.classes.all, sizeof sorted_end, cudaMemcpyDefault),
        "copy a count");
    std::vector<Place> places(sorted_end);
    std::vector<Motion> motions(sorted_end);
    std::vector<Force> sums(sorted_end);
    example::check(cudaMemcpy(places.data(), sorted.places, sorted_end * sizeof(Place), cudaMemcpyDefault),
                   "copy places");
    example::check(cudaMemcpy(motions.data(), sorted.motions, sorted_end * sizeof(Motion), cudaMemcpyDefault),
                   "copy motions");
    example::check(cudaMemcpy(sums.data(), forces.get(), sorted_end * sizeof(Force), cudaMemcpyDefault),
                   "copy forces");
    for (std::uint32_t index = 0; index < sorted_end; ++index) {
      if (motions[index].is_own != 0) {
        own.push_back({places[index], motions[index], sums[index]});
      }
    }
  }
  int rank_count = 1;
  MPI_Comm_size(communicator_, &rank_count);
  const int bytes = static_cast<int>(own.size() * sizeof(Particle));
  std::vector<int> sizes(static_cast<std::size_t>(rank_count));
  MPI_Gather(&bytes, 1, MPI_INT, sizes.data(), 1, MPI_INT, 0, communicator_);
  std::vector<int> starts(sizes.size() + 1);
  std::partial_sum(sizes.begin(), sizes.end(), starts.begin() + 1);
  std::vector<Particle> all(rank_ == 0 ? static_cast<std::size_t>(starts.back()) / sizeof(Particle) : 0);
  MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), sizes.data(), starts.data(), MPI_BYTE, 0,
              communicator_);
  return all;
}

}  // namespace particles
