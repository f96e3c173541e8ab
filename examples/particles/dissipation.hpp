// Dissipative particle dynamics: friction and noise on top of the soft repulsion, which keep a temperature
// and momentum. Source: Groot, Warren, "Dissipative particle dynamics", J. Chem. Phys. 107, 1997. For kernels
// and the host.
#pragma once

#include "examples/particles/pair.hpp"

namespace particles {

/// A number with mean 0 and variance 1 for a pair and a step, the same from both sides.
[[nodiscard]] EXAMPLE_HOST_DEVICE inline float noise_of_pair(std::uint32_t one, std::uint32_t other,
                                                             std::uint32_t step, std::uint64_t seed) {
  const std::uint32_t lower = one < other ? one : other;
  const std::uint32_t upper = one < other ? other : one;
  const example::FourWords random = example::philox({{lower, upper, step, 4}}, seed);
  constexpr float unit = 1.7320508F / 2147483648.0F;  // evenly between ±√3
  return static_cast<float>(static_cast<std::int32_t>(random.word[0])) * unit;
}

/// A force along the line between two particles: a w − γ w² v + √(2 γ T / step) w ξ, where w is 1 − r, v is
/// the speed at which they part, and ξ is a random number.
class Dissipation : public Repulsion {
 public:
  static constexpr bool has_friction = true;
  static constexpr bool has_core = false;

  /// `friction` is γ, `strength` a. No particle goes further than a voxel in a step.
  Dissipation(const Box& box, double strength, double friction, double temperature, double time_step,
              std::uint64_t seed)
      : Repulsion(box, strength,
                  strength + std::sqrt(3.0) * noise_of(friction, temperature, time_step) +
                      friction * fastest_parting(box, time_step)),
        friction_(static_cast<float>(friction)),
        noise_(static_cast<float>(noise_of(friction, temperature, time_step))),
        fastest_(static_cast<float>(fastest_parting(box, time_step))),
        seed_(seed) {}

  /// In that step of the simulation.
  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, const Party& own, const Party& other,
                                     std::uint32_t step, Sum& sum) const {
    const float weight = inverse_root(near.square) - 1.0F;  // w / r
    float parting = weight * (near.x * (own.motion.velocity[0] - other.motion.velocity[0]) +
                              near.y * (own.motion.velocity[1] - other.motion.velocity[1]) +
                              near.z * (own.motion.velocity[2] - other.motion.velocity[2]));
    // Only at the start may particles be faster; they then move too far, which ends the run.
    parting = parting > fastest_ ? fastest_ : (parting < -fastest_ ? -fastest_ : parting);
    const float force =
        strength() + noise_ * noise_of_pair(own.identity, other.identity, step, seed_) - friction_ * parting;
    add(near, scale() * weight * force, sum);
  }

 private:
  [[nodiscard]] static double noise_of(double friction, double temperature, double time_step) {
    return std::sqrt(2 * friction * temperature / time_step);
  }
  /// Twice the diagonal of a voxel in a step, and more.
  [[nodiscard]] static double fastest_parting(const Box& box, double time_step) {
    return 4 * std::max({box.voxel_side(0), box.voxel_side(1), box.voxel_side(2)}) / time_step;
  }

  float friction_;
  float noise_;
  float fastest_;
  std::uint64_t seed_;
};

}  // namespace particles
