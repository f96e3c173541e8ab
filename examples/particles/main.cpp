// Particles in an irregular domain: `mpiexec -n 4 penstock run particles_mpich --domain tube --partition
// scotch`.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "examples/particles/balancer.hpp"
#include "examples/particles/domain.hpp"
#include "examples/particles/energy_line.hpp"
#include "examples/particles/files.hpp"
#include "examples/particles/options.hpp"
#include "examples/particles/oracles.hpp"
#include "examples/particles/partition.hpp"
#include "examples/particles/result.hpp"
#include "examples/particles/shared_partition.hpp"
#include "examples/particles/simulation.hpp"
#include "examples/particles/survey.hpp"
#include "examples/support/gpu_memory.hpp"
#include "examples/support/median.hpp"
#include "examples/support/program.hpp"
#include "examples/support/ranks_gpu.hpp"

namespace {

/// Says what is wrong, if anything is, once.
bool complains(const std::string& complaint, int rank) {
  if (!complaint.empty() && rank == 0) {
    std::fprintf(stderr, "particles: %s\n", complaint.c_str());
  }
  return !complaint.empty();
}

/// Sums over ranks.
double sum(double value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  return value;
}

/// What has been measured in all rounds.
struct Rounds {
  std::vector<double> times_s;
  std::int64_t sent_records = 0;   ///< by this rank
  particles::Totals settled;       ///< after the first of several, else at the start
  particles::EnergyLine energies;  ///< since then
};

/// Steps up to the next check at most. What is wrong, or nothing.
std::string run_round(const particles::Options& options, std::unique_ptr<particles::Simulation>& simulation,
                      particles::Balancer& balancer, std::optional<particles::Oracles>& oracles,
                      Rounds& rounds) {
  for (std::int64_t step = 1; step <= options.steps; ++step) {
    simulation->step();
    if (oracles) {
      oracles->look(*simulation);
    }
    if (options.energy_every > 0 && simulation->steps() % options.energy_every == 0) {
      const std::int64_t sent_before = simulation->sent_records();
      rounds.energies.add(simulation->steps(), energy_of(simulation->observe()));
      rounds.sent_records -= simulation->sent_records() - sent_before;  // a look is no step
    }
    const bool is_to_balance =
        options.rebalance_every > 0 && simulation->steps() % options.rebalance_every == 0;
    std::string trouble;
    if (step % particles::Simulation::steps_between_checks == 0 || step == options.steps || is_to_balance) {
      trouble = simulation->trouble();
    }
    if (trouble.empty() && is_to_balance) {
      trouble = balancer.rebalance(simulation);
    }
    if (!trouble.empty()) {
      return trouble;
    }
  }
  return {};
}

/// All of them. What is wrong, or nothing.
std::string run_rounds(const particles::Options& options, std::unique_ptr<particles::Simulation>& simulation,
                       particles::Balancer& balancer, std::optional<particles::Oracles>& oracles,
                       Rounds& rounds) {
  for (int round = 0; round < options.rounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double start_s = MPI_Wtime();
    const std::int64_t sent_before = simulation->sent_records();
    std::string trouble = run_round(options, simulation, balancer, oracles, rounds);
    if (!trouble.empty()) {
      return trouble;
    }
    MPI_Barrier(MPI_COMM_WORLD);
    rounds.times_s.push_back(MPI_Wtime() - start_s);
    rounds.sent_records += simulation->sent_records() - sent_before;
    if (round == 0 && options.rounds > 1) {
      rounds.settled = simulation->observe();
      rounds.energies.clear();
    }
  }
  return {};
}

/// Density times temperature, and a third of the virial: of the voxels that may be fluid, so a bit low beside
/// walls.
double pressure_of(const particles::Totals& totals, const particles::Box& box,
                   const std::vector<std::uint8_t>& fluid) {
  const double eighths = std::accumulate(fluid.begin(), fluid.end(), 0.0);
  const double volume = eighths / 8 * box.voxel_side(0) * box.voxel_side(1) * box.voxel_side(2);
  return (2 * static_cast<double>(totals.kinetic) + static_cast<double>(totals.virial) / 2) *
         particles::totals_unit / (3 * volume);
}

/// Sums over ranks of what the simulation counts, and those over all particles at the end. Collective.
particles::Totals sum_up(const particles::Options& options, particles::Simulation& simulation,
                         const Rounds& rounds, particles::Result& result) {
  const auto steps = static_cast<double>(simulation.steps());
  const std::int64_t sent_after = simulation.sent_records();
  result.time_s = example::median_of(rounds.times_s);
  result.steps = options.steps;
  result.migrated_a_step = sum(static_cast<double>(simulation.migrated())) / steps;
  result.put_back = static_cast<std::int64_t>(sum(static_cast<double>(simulation.put_back())));
  result.sent_records_a_step = sum(static_cast<double>(rounds.sent_records)) / steps;
  result.packed_bytes =
      static_cast<std::int64_t>(sum(static_cast<double>(simulation.history().packed_bytes)));
  result.pack_s = sum(simulation.history().pack_s);
  const particles::Totals end = simulation.observe();
  const double sent_at_end = sum(static_cast<double>(simulation.sent_records() - sent_after));
  const double records = options.dpd ? 2 : 1;  // of a particle
  result.sent_over_touching =
      end.touching > 0 ? sent_at_end / records / static_cast<double>(end.touching) : 0;
  result.energy_drift = energy_of(end) / energy_of(rounds.settled) - 1;
  if (rounds.energies.count() > 1) {
    result.fitted_drift = rounds.energies.drift();
  }
  result.temperature = particles::temperature_of(end);
  result.hash = end.hash;
  return end;
}

/// What MPI counts in int, and a file for people's programs need not be larger.
constexpr unsigned long long most_for_xyz = INT_MAX / sizeof(particles::Particle);

/// What went wrong, or nothing. Collective; only rank 0 writes.
std::string write_particles(const particles::Options& options, const particles::Domain& domain,
                            particles::Simulation& simulation, int rank) {
  if (options.xyz.empty()) {
    return {};
  }
  const std::vector<particles::Particle> all = simulation.gather();
  std::string complaint;
  if (rank == 0) {
    std::vector<particles::Place> places(all.size());
    std::transform(all.begin(), all.end(), places.begin(),
                   [](const particles::Particle& particle) { return particle.place; });
    complaint = particles::write_xyz(options.xyz, domain.box, domain.capsules.empty(), simulation.steps(),
                                     std::move(places));
  }
  return complaint;
}

/// The program's exit code.
int simulate(const particles::Options& options, const particles::Domain& domain,
             const particles::Owners& owners, const std::vector<std::uint8_t>& fluid, int rank,
             int rank_count) {
  example::choose_gpu();
  auto simulation = std::make_unique<particles::Simulation>(options, domain, owners, MPI_COMM_WORLD);
  particles::Balancer balancer(options, domain, fluid, owners, MPI_COMM_WORLD);
  if (complains(simulation->complaint(), rank)) {
    return 1;
  }
  const std::string memory = example::memory_complaint(simulation->device_bytes(), MPI_COMM_WORLD);
  if (complains(memory.empty() ? memory : memory + "; take a smaller --size or more GPUs", rank)) {
    return 1;
  }
  simulation->prepare();
  const particles::Totals start = simulation->observe();
  if (complains(simulation->trouble(), rank)) {
    return 1;
  }
  if (!options.xyz.empty() && start.particles > most_for_xyz) {
    complains("--xyz: a file has " + std::to_string(most_for_xyz) + " particles at most, and here are " +
                  std::to_string(start.particles),
              rank);
    return 1;
  }
  particles::Result result;
  result.rank_count = rank_count;
  result.particles = static_cast<std::int64_t>(start.particles);
  result.energy_a_particle = energy_of(start) / static_cast<double>(start.particles);
  std::optional<particles::Oracles> oracles;
  if (options.verify) {
    oracles.emplace(options, domain, *simulation, start);
  }
  Rounds rounds{{}, 0, start, {}};
  if (complains(run_rounds(options, simulation, balancer, oracles, rounds), rank)) {
    return 1;
  }
  const particles::Totals end = sum_up(options, *simulation, rounds, result);
  result.pressure = pressure_of(end, domain.box, fluid);
  if (oracles) {
    result.checks = oracles->finish(*simulation, end, MPI_COMM_WORLD, fluid);
  }
  result.rebalancings = balancer.done();
  int is_wrong = complains(write_particles(options, domain, *simulation, rank), rank) ? 1 : 0;
  if (rank == 0) {
    result.survey = particles::survey(domain.box, fluid, balancer.owners(), rank_count);
    particles::print(options, result);
    is_wrong = result.verified() ? is_wrong : 1;
  }
  MPI_Bcast(&is_wrong, 1, MPI_INT, 0, MPI_COMM_WORLD);
  return is_wrong;
}

int run(const particles::Options& options, int rank, int rank_count) {
  const particles::Domain domain = particles::make_domain(options);
  if (complains(domain.complaint, rank)) {
    return 1;
  }
  const particles::Start start = particles::make_start(options, domain);
  if (complains(particles::size_complaint(domain, start), rank)) {
    return 1;
  }
  const std::vector<std::uint8_t> fluid = particles::fluid_of(domain);
  const particles::Partition partition =
      particles::share_partition(options, domain.box, fluid, MPI_COMM_WORLD);
  if (complains(partition.complaint, rank) || partition.owners.empty()) {
    return 1;
  }
  if (options.dry_run) {
    if (rank == 0) {
      particles::print(options, particles::survey(domain.box, fluid, partition.owners, options.pieces));
    }
    return 0;
  }
  return simulate(options, domain, partition.owners, fluid, rank, rank_count);
}

}  // namespace

int main(int argc, char** argv) {
  return example::run_program(argc, argv, particles::read_options, run);
}
