// 3-D Ising spin glass on many GPUs: `mpiexec -n 4 penstock run ising_mpich --lattice 256 --sweeps 100`.
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <optional>

#include "examples/ising/options.hpp"
#include "examples/ising/reference.hpp"
#include "examples/ising/simulation.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

/// Rank 0's exit code.
int compare_with_reference(const ising::Options& options, const std::vector<std::uint8_t>& spins) {
  const std::vector<std::uint8_t> expected =
      ising::reference_spins(options.lattice, options.temperature, options.seed, options.sweeps);
  std::size_t different = 0;
  for (std::size_t site = 0; site < expected.size(); ++site) {
    different += spins[site] != expected[site] ? 1 : 0;
  }
  if (different != 0) {
    std::printf("NOT verified: %zu of %zu spins differ from the host reference\n", different,
                expected.size());
    return 1;
  }
  std::printf("verified: all %zu spins equal the host reference\n", expected.size());
  return 0;
}

int simulate(const ising::Options& options, int rank, int rank_count) {
  example::choose_gpu();
  ising::Simulation simulation(options, MPI_COMM_WORLD);

  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (std::uint32_t sweep = 0; sweep < options.sweeps; ++sweep) {
    simulation.sweep();
  }
  simulation.synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  const double duration_s = MPI_Wtime() - start_s;

  const ising::Observables observed = simulation.measure();
  if (rank == 0) {
    const auto [x, y, z] = options.lattice;
    const double updates = static_cast<double>(options.lattice.sites()) * options.sweeps;
    std::printf("ising: %d x %d x %d spins on %d ranks, T = %g, seed %" PRIu64 ", %u sweeps\n", x, y, z,
                rank_count, options.temperature, options.seed, options.sweeps);
    std::printf("time %.3f s, %.3g spin updates/ns\n", duration_s, updates / (duration_s * 1e9));
    std::printf("energy %.6f, magnetisation %.6f per spin\n", observed.energy_per_spin,
                observed.magnetisation_per_spin);
    std::printf("hash of the spins %016" PRIx64 "\n", observed.hash);
  }
  if (!options.verify) {
    return 0;
  }
  const std::vector<std::uint8_t> spins = simulation.gather_spins();
  return rank == 0 ? compare_with_reference(options, spins) : 0;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  int rank_count = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &rank_count);
  int exit_code = 0;
  const std::optional<ising::Options> options = ising::read_options(argc, argv, rank, rank_count, exit_code);
  if (options) {
    exit_code = simulate(*options, rank, rank_count);
  }
  MPI_Finalize();
  return exit_code;
}
