// Ising spin glass on many GPUs: `mpiexec -n 4 penstock run ising_mpich --lattice 256 --sweeps 100`.
#include <mpi.h>

#include <bit>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include "examples/ising/options.hpp"
#include "examples/ising/reference.hpp"
#include "examples/ising/result.hpp"
#include "examples/ising/simulation.hpp"
#include "examples/support/gpu_memory.hpp"
#include "examples/support/program.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

/// Number of spins that differ from the host reference's.
std::int64_t count_wrong(const ising::Options& options, const std::vector<std::uint32_t>& spins) {
  const std::vector<std::uint32_t> expected =
      ising::reference_spins(options.model(), options.replicas, options.temperature, options.sweeps);
  std::int64_t wrong = 0;
  for (std::size_t site = 0; site < expected.size(); ++site) {
    wrong += std::popcount(spins[site] ^ expected[site]);
  }
  return wrong;
}

/// The program's exit code.
int simulate(const ising::Options& options, int rank, int rank_count) {
  example::choose_gpu();
  const std::string complaint =
      example::memory_complaint(ising::Simulation::device_bytes(options, {rank, rank_count}), MPI_COMM_WORLD);
  if (!complaint.empty()) {
    if (rank == 0) {
      std::fprintf(stderr, "ising: %s; take a smaller --lattice or more GPUs\n", complaint.c_str());
    }
    return 1;
  }
  ising::Simulation simulation(options, MPI_COMM_WORLD);

  std::vector<double> energies;
  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (std::uint32_t sweep = 1; sweep <= options.sweeps; ++sweep) {
    simulation.sweep();
    if (sweep < options.sweeps && sweep + options.measurements > options.sweeps) {
      energies.push_back(simulation.measure().energy_per_spin);
    }
  }
  simulation.synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  ising::Result result;
  result.time_s = MPI_Wtime() - start_s;
  result.rank_count = rank_count;

  const ising::Observables last = simulation.measure();
  if (options.replicas > 1) {
    result.mean_square_overlap = simulation.mean_square_overlap();
  }
  const std::vector<std::uint32_t> spins =
      options.verify ? simulation.gather_spins() : std::vector<std::uint32_t>();
  if (rank != 0) {
    return 0;
  }
  energies.push_back(last.energy_per_spin);
  result.energy_per_spin =
      std::accumulate(energies.begin(), energies.end(), 0.0) / static_cast<double>(energies.size());
  result.magnetisation_per_spin = last.magnetisation_per_spin;
  result.hash = last.hash;
  result.comparison = ising::compare_with_theory(options, energies);
  if (options.verify) {
    result.wrong_spins = count_wrong(options, spins);
  }
  ising::print(options, result);
  return options.verify && !result.verified() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program(argc, argv, ising::read_options, simulate);
}
