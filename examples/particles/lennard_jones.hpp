// Lennard-Jones's force between two particles, truncated at 2.5 of their diameters, where its energy is
// shifted to zero. The cutoff is the unit of length, the depth of the well that of energy. For kernels and
// the host.
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

  /// In the core the force does not grow any more.
  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, Sum& sum) const {
    const float over = over_square(near.square);
    const float sixth = over * over * over;
    add(near, scale() * (24 / diameter_square) * over * sixth * (2 * sixth - 1), sum);
  }

  /// Energy of a pair, and what it adds to the virial.
  [[nodiscard]] EXAMPLE_HOST_DEVICE float energy_of(float square) const {
    const float sixth = sixth_of(square);
    constexpr float at_cutoff = diameter_square * diameter_square * diameter_square;
    return 4 * (sixth * (sixth - 1) - at_cutoff * (at_cutoff - 1));
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE float virial_of(float square) const {
    const float sixth = sixth_of(square);
    return 24 * sixth * (2 * sixth - 1);
  }

 private:
  static constexpr float diameter_square = static_cast<float>(diameter * diameter);
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

}  // namespace particles
