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

/// Counts the movers at the first `count` indices, in `totals`, which must be zero before: particles,
/// identities and hash.
void queue_count(const example::Stream& stream, const Movers& movers, std::uint32_t count, Totals* totals);

/// The other sums, over all that is sorted, `most` particles at most. `back` leads, times the force, from a
/// velocity to that of the position's time.
void queue_observe(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                   const Repulsion& repulsion, float back, std::uint32_t most, Totals* totals);

/// The forces on all that is sorted, or zero for others' particles.
struct Force {
  float along[3];
};
void queue_forces(const example::Stream& stream, const Cells& cells, const Sorted& sorted,
                  const Repulsion& repulsion, std::uint32_t most, Force* forces);

}  // namespace particles
