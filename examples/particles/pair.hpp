// The force between two particles, as whole multiples of a small unit: sums of such do not depend on the
// order, and that of a pair is exactly zero. What all models share, and the soft repulsion. For kernels and
// the host.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "examples/particles/box.hpp"
#include "examples/particles/rounding.hpp"

namespace particles {

/// What all models have. The model says by two constants what a kernel must do besides: `has_friction`, it
/// asks for velocities; `has_core`, it has a distance below which its force is beyond the unit's range.
class Pair {
 public:
  /// A square that is a bit below that of the cutoff, which is 1: rounding must not let two particles touch
  /// each other whose cells, by exact arithmetic, do not.
  static constexpr float cutoff_square = 1.0F - 1e-6F;

  struct Separation {
    float x, y, z;
    float square;
    /// Two particles at one place have no direction in which to repel each other.
    [[nodiscard]] EXAMPLE_HOST_DEVICE bool is_near() const { return square < cutoff_square && square > 0; }
  };

  /// From `other` to `own`: turned round, it changes its sign alone.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Separation between(const Place& own, const Place& other) const {
    const float x = static_cast<float>(static_cast<std::int32_t>(own.at[0] - other.at[0])) * unit_[0];
    const float y = static_cast<float>(static_cast<std::int32_t>(own.at[1] - other.at[1])) * unit_[1];
    const float z = static_cast<float>(static_cast<std::int32_t>(own.at[2] - other.at[2])) * unit_[2];
    return {x, y, z, x * x + y * y + z * z};
  }

  struct Sum {
    std::int64_t x, y, z;
  };

  /// How a particle takes part in what a force is made of besides the separation.
  struct Party {
    std::uint32_t identity;
    const Motion& motion;
  };

  /// A force, of a sum.
  [[nodiscard]] EXAMPLE_HOST_DEVICE float force_of(std::int64_t sum) const {
    return static_cast<float>(sum) / scale_;
  }

 protected:
  /// Forces of a pair are less than `largest`.
  Pair(const Box& box, double largest)
      : scale_(std::ldexp(1.0F, 30 - (largest > 0 ? std::ilogb(largest) + 1 : 0))) {
    for (int axis = 0; axis < 3; ++axis) {
      unit_[axis] = static_cast<float>(box.unit(axis));
    }
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE float scale() const { return scale_; }

  /// Adds the separation times `factor`, in units.
  static EXAMPLE_HOST_DEVICE void add(const Separation& near, float factor, Sum& sum) {
    sum.x += rounded(near.x * factor);
    sum.y += rounded(near.y * factor);
    sum.z += rounded(near.z * factor);
  }

  [[nodiscard]] static EXAMPLE_HOST_DEVICE float inverse_root(float square) {
#if defined(__CUDA_ARCH__)
    return rsqrtf(square);
#else
    return 1.0F / std::sqrt(square);
#endif
  }

 private:
  float unit_[3];
  float scale_;
};

/// The soft repulsion a (1 − r): DPD's conservative force.
class Repulsion : public Pair {
 public:
  static constexpr bool has_friction = false;
  static constexpr bool has_core = false;

  /// `strength` is a.
  Repulsion(const Box& box, double strength) : Repulsion(box, strength, strength) {}

  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, Sum& sum) const {
    add(near, scale() * strength_ * (inverse_root(near.square) - 1.0F), sum);
  }

  /// Energy of a pair, and what it adds to the virial.
  [[nodiscard]] EXAMPLE_HOST_DEVICE float energy_of(float square) const {
    const float gap = 1.0F - square * inverse_root(square);
    return 0.5F * strength_ * gap * gap;
  }
  [[nodiscard]] EXAMPLE_HOST_DEVICE float virial_of(float square) const {
    const float distance = square * inverse_root(square);
    return strength_ * (1.0F - distance) * distance;
  }

 protected:
  /// Where more than the repulsion is summed: forces are less than `largest`.
  Repulsion(const Box& box, double strength, double largest)
      : Pair(box, largest), strength_(static_cast<float>(strength)) {}

  [[nodiscard]] EXAMPLE_HOST_DEVICE float strength() const { return strength_; }

 private:
  float strength_;
};

}  // namespace particles
