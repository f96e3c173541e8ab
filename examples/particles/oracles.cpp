#include "examples/particles/oracles.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace particles {
namespace {

constexpr std::size_t most_for_all_pairs = 4096;

std::string text_of(const char* format, double value) {
  char text[128];
  std::snprintf(text, sizeof text, format, value);
  return text;
}

/// The nearest image's separation along an axis.
double separation(const Place& own, const Place& other, const Box& box, int axis) {
  const double side = box.side[axis];
  const double difference = own.at[axis] * box.unit(axis) - other.at[axis] * box.unit(axis);
  return difference - side * std::round(difference / side);
}

/// How far from each other the kernel's forces and the host's, in double precision, are at most.
double largest_force_error(const std::vector<Particle>& particles, const Box& box, double strength) {
  double largest = 0;
  for (const Particle& own : particles) {
    double force[3] = {};
    for (const Particle& other : particles) {
      const double way[3] = {separation(own.place, other.place, box, 0),
                             separation(own.place, other.place, box, 1),
                             separation(own.place, other.place, box, 2)};
      const double distance = std::sqrt(way[0] * way[0] + way[1] * way[1] + way[2] * way[2]);
      if (distance > 0 && distance < 1) {
        for (int axis = 0; axis < 3; ++axis) {
          force[axis] += strength * (1 - distance) * way[axis] / distance;
        }
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      largest = std::max(largest, std::abs(force[axis] - own.force.along[axis]));
    }
  }
  return largest;
}

}  // namespace

Oracles::Oracles(const Options& options, const Domain& domain, Simulation& simulation, const Totals& start)
    : options_(options), domain_(domain), start_(start) {
  compare_forces(simulation, "start");
}

void Oracles::look(Simulation& simulation) {
  const Totals now = simulation.count();
  steps_with_other_particles_ +=
      now.particles != start_.particles || now.identities != start_.identities ? 1 : 0;
}

void Oracles::compare_forces(Simulation& simulation, const std::string& when) {
  if (start_.particles > most_for_all_pairs) {
    return;
  }
  const std::vector<Particle> particles = simulation.gather();
  const double error = largest_force_error(particles, domain_.box, options_.repulsion);
  const double limit = 1e-5 * std::max(options_.repulsion, 1.0);
  checks_.push_back({"forces at the " + when + " against the host's", error <= limit,
                     text_of("they differ by %.2e at most", error)});
}

std::vector<Check> Oracles::finish(Simulation& simulation, const Totals& end, MPI_Comm communicator,
                                   const std::vector<std::uint8_t>& fluid) {
  compare_forces(simulation, "end");
  checks_.push_back({"particles and identities", steps_with_other_particles_ == 0,
                     std::to_string(steps_with_other_particles_) + " steps with others than at the start"});
  const bool is_zero = std::all_of(end.force, end.force + 3, [](long long sum) { return sum == 0; });
  checks_.push_back({"sum of all forces", is_zero, is_zero ? "exactly zero" : "not zero"});
  const auto count = static_cast<double>(start_.particles);
  if (domain_.capsules.empty()) {
    double drift = 0;
    for (int axis = 0; axis < 3; ++axis) {
      drift = std::max(
          drift, std::abs(static_cast<double>(end.momentum[axis] - start_.momentum[axis])) * totals_unit);
    }
    checks_.push_back(
        {"momentum", drift < 1e-5 * count, text_of("drifts by %.2e a particle", drift / count)});
  }
  const double drift = energy_of(end) / energy_of(start_) - 1;
  // A particle meets the wall somewhere within a step, and is pushed by the force of where it was before.
  const double limit = domain_.capsules.empty() ? 1e-3 : 5e-3;
  checks_.push_back({"energy", std::abs(drift) < limit, text_of("drifts by %.2e", drift)});
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  compare_with_one_rank(simulation, end, rank, fluid);
  return checks_;
}

/// The whole run once more, on rank 0 alone.
void Oracles::compare_with_one_rank(const Simulation& simulation, const Totals& end, int rank,
                                    const std::vector<std::uint8_t>& fluid) {
  int differs = 0;
  if (rank == 0) {
    Owners owners(fluid.size(), no_owner);
    std::transform(fluid.begin(), fluid.end(), owners.begin(),
                   [](std::uint8_t eighths) { return eighths > 0 ? Owner{0} : no_owner; });
    Simulation alone(options_, domain_, owners, MPI_COMM_SELF);
    alone.prepare();
    for (std::int64_t step = 0; step < simulation.steps(); ++step) {
      alone.step();
    }
    const Totals totals = alone.observe();
    differs =
        totals.hash != end.hash || totals.virial != end.virial || totals.potential != end.potential ? 1 : 0;
  }
  checks_.push_back({"positions, velocities and virial of one rank", differs == 0,
                     differs == 0 ? "the same bits" : "other bits"});
}

}  // namespace particles
