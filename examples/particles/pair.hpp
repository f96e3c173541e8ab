// The force between two particles, as whole multiples of a small unit: sums of such do not depend on the
// order, and that of a pair is exactly zero. For kernels and the host.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/particles/box.hpp"
#include "examples/particles/rounding.hpp"

namespace particles {

/// The soft repulsion a (1 − r) of two particles that are nearer than the cutoff, which is 1.
struct Repulsion {
  /// `strength` is a.
  Repulsion(const Box& box, double strength) : strength_(static_cast<float>(strength)) {
    const int exponent = 30 - (strength > 0 ? std::ilogb(strength) + 1 : 0);
    scale_ = std::ldexp(1.0F, exponent);
    for (int axis = 0; axis < 3; ++axis) {
      unit_[axis] = static_cast<float>(box.unit(axis));
    }
  }

  /// A square that is a bit below that of the cutoff: rounding must not let two particles touch each other
  /// whose cells, by exact arithmetic, do not. The force there is less than a millionth of the largest.
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

  EXAMPLE_HOST_DEVICE void add_force(const Separation& near, Sum& sum) const {
    const float inverse = inverse_root(near.square);
    const float factor = scale_ * strength_ * (inverse - 1.0F);
    sum.x += rounded(near.x * factor);
    sum.y += rounded(near.y * factor);
    sum.z += rounded(near.z * factor);
  }

  /// A force in units of a / cutoff, of a sum.
  [[nodiscard]] EXAMPLE_HOST_DEVICE float force_of(std::int64_t sum) const {
    return static_cast<float>(sum) / scale_;
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

 private:
  [[nodiscard]] static EXAMPLE_HOST_DEVICE float inverse_root(float square) {
#if defined(__CUDA_ARCH__)
    return rsqrtf(square);
#else
    return 1.0F / std::sqrt(square);
#endif
  }

  float unit_[3];
  float strength_;
  float scale_;
};

}  // namespace particles
