// Lennard-Jones's force between two particles, truncated at 2.5 of their diameters, where its energy, or its
// force as well, is shifted to zero. The cutoff is the unit of length, the depth of the well that of energy.
// For kernels and the host.
#pragma once

#include "examples/particles/pair.hpp"

namespace particles {

class LennardJones : public Pair {
 public:
  static constexpr bool has_friction = false;
  static constexpr bool has_core = true;

  static constexpr double diameter = 0.4;  ///< at which the energy, before it is shifted, is zero
  /// The square of 0.274, 0.685 diameters: nearer, the force is beyond what its unit has room for. The energy
  /// there is 340 of the well's depth.
  static constexpr float core_square = 0.075F;
  static constexpr double largest_force = 16384;  ///< 2^14; at the core it is a bit less

  /// The force's unit is 2^−16: 6e-6 of the well's depth over the diameter.
  explicit LennardJones(const Box& box) : Pair(box, largest_force - 1) {}

  /// Two particles at one place touch each other, too: a kernel must see that they do.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Separation between(const Place& own, const Place& other) const {
    Separation separation = Pair::between(own, other);
    separation.square += own.identity != other.identity ? least_square : 0;
    return separation;
  }

  [[nodiscard]] static EXAMPLE_HOST_DEVICE bool is_in_core(const Separation& near) {
    return near.square < core_square;
  }

  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, Sum& sum) const {
    add(near, scale() * force_over_distance(near), sum);
  }

  /// Energy of a pair, and what it adds to the virial.
  [[nodiscard]] EXAMPLE_HOST_DEVICE float energy_of(float square) const {
    const float sixth = sixth_of(square);
    return 4 * (sixth * (sixth - 1) - sixth_at_cutoff * (sixth_at_cutoff - 1));
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE float virial_of(float square) const {
    const float sixth = sixth_of(square);
    return 24 * sixth * (2 * sixth - 1);
  }

 protected:
  static constexpr float diameter_square = static_cast<float>(diameter * diameter);
  static constexpr float sixth_at_cutoff = diameter_square * diameter_square * diameter_square;

  /// In the core the force does not grow any more.
  [[nodiscard]] static EXAMPLE_HOST_DEVICE float force_over_distance(const Separation& near) {
    const float over = over_square(near.square);
    const float sixth = over * over * over;
    return (24 / diameter_square) * over * sixth * (2 * sixth - 1);
  }

 private:
  static constexpr float least_square = 1e-20F;  ///< changes no square but zero

  /// The diameter's square over a separation's, or over the core's.
  [[nodiscard]] static EXAMPLE_HOST_DEVICE float over_square(float square) {
    constexpr float core = core_square;  // a member of a class cannot be referred to on a GPU
    return diameter_square / (square < core ? core : square);
  }
  [[nodiscard]] static EXAMPLE_HOST_DEVICE float sixth_of(float square) {
    const float over = over_square(square);
    return over * over * over;
  }
};

/// With a force that is zero at the cutoff, too, so that energy does not change by where within a step a pair
/// crosses it. Source: Toxvaerd, Dyre, "Shifted forces in molecular dynamics", J. Chem. Phys. 134, 2011.
class ForceShiftedLennardJones : public LennardJones {
 public:
  using LennardJones::LennardJones;

  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, Sum& sum) const {
    constexpr float shift = force_at_cutoff;  // a member of a class cannot be referred to on a GPU
    add(near, scale() * (force_over_distance(near) - shift * inverse_root(near.square)), sum);
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE float energy_of(float square) const {
    constexpr float shift = force_at_cutoff;
    return LennardJones::energy_of(square) + shift * (square * inverse_root(square) - 1);
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE float virial_of(float square) const {
    constexpr float shift = force_at_cutoff;
    return LennardJones::virial_of(square) - shift * square * inverse_root(square);
  }

 private:
  /// It pulls.
  static constexpr float force_at_cutoff = 24 * sixth_at_cutoff * (2 * sixth_at_cutoff - 1);
};

}  // namespace particles
