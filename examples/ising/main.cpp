// 3-D Ising spin glass on many GPUs: `mpiexec -n 4 penstock run ising_mpich --lattice 256 --sweeps 100`.
#include <mpi.h>

#include <cinttypes>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "examples/ising/options.hpp"
#include "examples/ising/reference.hpp"
#include "examples/ising/simulation.hpp"
#include "examples/support/gpu_memory.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

/// Number of spins that differ from the host reference's.
std::size_t count_errors(const ising::Options& options, const std::vector<std::uint8_t>& spins) {
  const std::vector<std::uint8_t> expected =
      ising::reference_spins(options.lattice, options.temperature, options.seed, options.sweeps);
  std::size_t errors = 0;
  for (std::size_t site = 0; site < expected.size(); ++site) {
    errors += spins[site] != expected[site] ? 1 : 0;
  }
  return errors;
}

struct Result {
  double time_s = 0;
  ising::Observables observed;
  std::optional<std::size_t> errors;  ///< where spins were compared with the reference

  [[nodiscard]] double updates_per_ns(const ising::Options& options) const {
    return static_cast<double>(options.lattice.sites()) * options.sweeps / (time_s * 1e9);
  }
};

std::string hash_text(std::uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof text, "%016" PRIx64, hash);
  return text;
}

void print_text(const ising::Options& options, int rank_count, const Result& result) {
  const auto [x, y, z] = options.lattice;
  std::printf("ising: %d x %d x %d spins on %d ranks, T = %g, seed %" PRIu64 ", %u sweeps\n", x, y, z,
              rank_count, options.temperature, options.seed, options.sweeps);
  std::printf("time %.3f s, %.3g spin updates/ns\n", result.time_s, result.updates_per_ns(options));
  std::printf("energy %.6f, magnetisation %.6f per spin\n", result.observed.energy_per_spin,
              result.observed.magnetisation_per_spin);
  std::printf("hash of the spins %s\n", hash_text(result.observed.hash).c_str());
  if (result.errors && *result.errors != 0) {
    std::printf("NOT verified: %zu of %" PRId64 " spins differ from the host reference\n", *result.errors,
                options.lattice.sites());
  } else if (result.errors) {
    std::printf("verified: all %" PRId64 " spins equal the host reference\n", options.lattice.sites());
  }
}

void print_json(const ising::Options& options, int rank_count, const Result& result) {
  const auto [x, y, z] = options.lattice;
  nlohmann::ordered_json json{
      {"example", "ising"},
      {"figure_of_merit", {{"value", result.updates_per_ns(options)}, {"unit", "spin updates/ns"}}},
      {"parameters",
       {{"lattice", {x, y, z}},
        {"sweeps", options.sweeps},
        {"temperature", options.temperature},
        {"seed", options.seed},
        {"exchange", example::name_of(options.exchange)},
        {"ranks", rank_count}}},
      {"time_s", result.time_s},
      {"energy_per_spin", result.observed.energy_per_spin},
      {"magnetisation_per_spin", result.observed.magnetisation_per_spin},
      {"hash", hash_text(result.observed.hash)}};
  if (result.errors) {
    json["verified"] = *result.errors == 0;
  }
  std::puts(json.dump().c_str());
}

/// The program's exit code.
int simulate(const ising::Options& options, int rank, int rank_count) {
  example::choose_gpu();
  const std::string complaint =
      example::memory_complaint(ising::Simulation::device_bytes(options, rank, rank_count), MPI_COMM_WORLD);
  if (!complaint.empty()) {
    if (rank == 0) {
      std::fprintf(stderr, "ising: %s; take a smaller --lattice or more GPUs\n", complaint.c_str());
    }
    return 1;
  }
  ising::Simulation simulation(options, MPI_COMM_WORLD);

  MPI_Barrier(MPI_COMM_WORLD);
  const double start_s = MPI_Wtime();
  for (std::uint32_t sweep = 0; sweep < options.sweeps; ++sweep) {
    simulation.sweep();
  }
  simulation.synchronize();
  MPI_Barrier(MPI_COMM_WORLD);
  Result result;
  result.time_s = MPI_Wtime() - start_s;
  result.observed = simulation.measure();
  const std::vector<std::uint8_t> spins =
      options.verify ? simulation.gather_spins() : std::vector<std::uint8_t>();
  if (rank != 0) {
    return 0;
  }
  if (options.verify) {
    result.errors = count_errors(options, spins);
  }
  (options.json ? print_json : print_text)(options, rank_count, result);
  return result.errors.value_or(0) == 0 ? 0 : 1;
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
