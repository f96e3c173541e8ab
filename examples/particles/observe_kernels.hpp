// Sums over a rank's particles, as whole numbers: they depend neither on their order nor on who owns what.
// Knows no MPI.
#pragma once

#include <cstdint>

#include "examples/particles/step_kernels.hpp"

namespace particles {

/// Words that all ranks' sums of are those of all particles.
struct Totals {
  unsigned long long particles;
  unsigned long long identities;  ///< a sum of numbers made of each identity
  unsigned long long hash;        ///< a sum of numbers made of each identity, position and velocity
  long long force[3];             ///< in units of the pair's force
  long long momentum[3];          ///< in 2^−20ths, as the next ones
  long long kinetic;              ///< energy
  long long potential;            ///< energy, twice
  long long virial;               ///< twice
  unsigned long long touching;    ///< particles of others that interact with own ones, for each rank
};
constexpr double totals_unit = 1.0 / (1 << 20);
constexpr int totals_words = sizeof(Totals) / 8;

/// Of all particles, if `totals` are those of all.
[[nodiscard]] inline double energy_of(const Totals& totals) {
  return (static_cast<double>(totals.kinetic) + static_cast<double>(totals.potential) / 2) * totals_unit;
}

/// Three halves of it, for each particle, is the kinetic energy of how they move past each other.
[[nodiscard]] inline double temperature_of(const Totals& totals) {
  const auto count = static_cast<double>(totals.particles);
  double of_all = 0;
  for (const long long momentum : totals.momentum) {
    const double sum = static_cast<double>(momentum) * totals_unit;
    of_all += sum * sum / count;
  }
  return (2 * static_cast<double>(totals.kinetic) * totals_unit - of_all) / (3 * count);
}

/// Counts the movers at the first `count` indices, in `totals`, which must be zero before: particles,
/// identities and hash.
void queue_count(const example::Stream& stream, const Movers& movers, std::uint32_t count, Totals* totals);

/// The other sums, over all that is sorted, `most` particles at most. `mover` is that of the step to come;
/// its kick leads, times the force, from a velocity to that of the position's time.
void queue_observe(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                   const Model& model, const Mover& mover, std::uint32_t most, Totals* totals);

/// The forces on all that is sorted in that step, or zero for others' particles.
struct Force {
  float along[3];
};
void queue_forces(const example::Stream& stream, const Cells& cells, const Sorted& sorted, const Model& model,
                  std::uint32_t step, std::uint32_t most, Force* forces);

}  // namespace particles
