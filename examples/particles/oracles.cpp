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

/// A pair's force along the line between them, over their distance, in double precision.
class HostForce {
 public:
  HostForce(const Options& options, std::int64_t step)
      : options_(options), step_(static_cast<std::uint32_t>(step)) {}

  [[nodiscard]] double over_distance(const Particle& own, const Particle& other, const double (&way)[3],
                                     double square) const {
    const double distance = std::sqrt(square);
    if (options_.pair == PairForce::lennard_jones) {
      return lennard_jones(square);
    }
    if (options_.pair == PairForce::lennard_jones_force_shifted) {
      return lennard_jones(square) - lennard_jones(1) / distance;
    }
    const double weight = 1 - distance;
    double force = options_.repulsion * weight;
    if (options_.dpd) {
      double parting = 0;
      for (int axis = 0; axis < 3; ++axis) {
        parting += way[axis] / distance * (1.0 * own.motion.velocity[axis] - other.motion.velocity[axis]);
      }
      const double random = noise_of_pair(own.place.identity, other.place.identity, step_, options_.seed);
      const double noise =
          std::sqrt(2 * options_.dpd->friction * options_.dpd->temperature / options_.time_step);
      force += weight * (noise * random - options_.dpd->friction * weight * parting);
    }
    return force / distance;
  }

  /// By how much forces may differ since a pair is as far as the cutoff, by this or that rounding.
  [[nodiscard]] double at_cutoff(double square) const {
    const bool is_there = options_.pair == PairForce::lennard_jones && std::abs(square - 1) < 1e-5;
    return is_there ? std::abs(lennard_jones(1)) : 0;
  }

 private:
  [[nodiscard]] static double lennard_jones(double square) {
    const double sixth = std::pow(LennardJones::diameter * LennardJones::diameter / square, 3);
    return 24 * sixth * (2 * sixth - 1) / square;
  }

  const Options& options_;
  std::uint32_t step_;
};

struct ForceError {
  double largest = 0;       ///< how far the kernel's forces are from the host's
  bool is_rounding = true;  ///< each is explained by single precision
};

ForceError force_error(const std::vector<Particle>& particles, const Box& box, const HostForce& host) {
  ForceError error;
  for (const Particle& own : particles) {
    double force[3] = {};
    double sizes = 1;
    double allowed = 0;
    for (const Particle& other : particles) {
      const double way[3] = {separation(own.place, other.place, box, 0),
                             separation(own.place, other.place, box, 1),
                             separation(own.place, other.place, box, 2)};
      const double square = way[0] * way[0] + way[1] * way[1] + way[2] * way[2];
      allowed += host.at_cutoff(square);
      if (square > 0 && square < 1) {
        const double factor = host.over_distance(own, other, way, square);
        sizes += std::abs(factor) * std::sqrt(square);
        for (int axis = 0; axis < 3; ++axis) {
          force[axis] += factor * way[axis];
        }
      }
    }
    for (int axis = 0; axis < 3; ++axis) {
      const double found = std::abs(force[axis] - own.force.along[axis]);
      error.largest = std::max(error.largest, found);
      error.is_rounding = error.is_rounding && found <= allowed + 5e-6 * sizes;  // NaN is not
    }
  }
  return error;
}

/// Whether forces add energy or take it away.
bool is_driven(const Options& options) {
  return options.dpd || options.body_force != std::array<double, 3>{};
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
  const ForceError error = force_error(particles, domain_.box, HostForce(options_, simulation.steps()));
  checks_.push_back({"forces at the " + when + " against the host's", error.is_rounding,
                     text_of("they differ by %.2e at most", error.largest)});
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
      const double pushed = count * options_.body_force[static_cast<std::size_t>(axis)] * options_.time_step *
                            static_cast<double>(simulation.steps());
      const double found = static_cast<double>(end.momentum[axis] - start_.momentum[axis]) * totals_unit;
      drift = std::max(drift, std::abs(found - pushed));
    }
    checks_.push_back(
        {"momentum", drift < 1e-5 * count, text_of("drifts by %.2e a particle", drift / count)});
  }
  if (!is_driven(options_)) {
    const double drift = energy_of(end) / energy_of(start_) - 1;
    // A particle meets the wall somewhere within a step, and is pushed by the force of where it was before.
    const double limit = domain_.capsules.empty() ? 1e-3 : 5e-3;
    checks_.push_back({"energy", std::abs(drift) < limit, text_of("drifts by %.2e", drift)});
  }
  check_temperature(simulation, end);
  int rank = 0;
  MPI_Comm_rank(communicator, &rank);
  compare_with_one_rank(simulation, end, rank, fluid);
  return checks_;
}

/// Friction and noise lead to their temperature. Friction slows two particles at about γ times the density
/// over 7; the time step, and chance, make a difference.
void Oracles::check_temperature(const Simulation& simulation, const Totals& end) {
  if (!options_.dpd || options_.dpd->temperature == 0) {
    return;
  }
  const double expected = options_.dpd->temperature;
  const double relaxations = options_.dpd->friction * options_.density / 7 * options_.time_step *
                             static_cast<double>(simulation.steps());
  if (relaxations < 4) {
    return;
  }
  const double found = temperature_of(end);
  const double chance = std::sqrt(2 / (3 * static_cast<double>(end.particles)));
  checks_.push_back({"temperature", std::abs(found / expected - 1) < 0.03 + 4 * chance,
                     text_of("%.4g", found) + text_of(", friction and noise keep %.4g", expected)});
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
