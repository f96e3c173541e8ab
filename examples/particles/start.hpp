// Where particles are at the start and how they move: a function of the seed and of a particle's number in a
// lattice over the whole box, whoever asks. For kernels and the host.
#pragma once

#include <cmath>
#include <cstdint>

#include "examples/particles/box.hpp"

namespace particles {

/// A lattice with one particle at most a site, anywhere in the middle part of its side.
struct Start {
  Box box;
  std::uint32_t sites[3];
  float temperature;
  std::uint64_t seed;
  std::uint32_t parts;  ///< one in so many of a site's side, in its middle, is where a particle may be

  [[nodiscard]] EXAMPLE_HOST_DEVICE std::int64_t site_count() const {
    return std::int64_t{sites[0]} * sites[1] * sites[2];
  }

  [[nodiscard]] EXAMPLE_HOST_DEVICE Place place_of(std::uint32_t identity) const {
    const std::uint32_t at[3] = {identity % sites[0], identity / sites[0] % sites[1],
                                 identity / sites[0] / sites[1]};
    const example::FourWords random = example::philox({{identity, 0, 0, 1}}, seed);
    Place place{};
    for (int axis = 0; axis < 3; ++axis) {
      const std::uint64_t pitch = (std::uint64_t{1} << 32) / sites[axis];
      place.at[axis] = static_cast<std::uint32_t>(at[axis] * pitch + (pitch - pitch / parts) / 2 +
                                                  (pitch / parts * random.word[axis] >> 32));
    }
    place.identity = identity;
    return place;
  }

  /// Maxwell's distribution. Two neighbours in number move oppositely, so that the momentum of a full lattice
  /// is zero.
  [[nodiscard]] EXAMPLE_HOST_DEVICE Motion motion_of(std::uint32_t identity) const {
    const example::FourWords random = example::philox({{identity / 2, 0, 0, 2}}, seed);
    constexpr double two_pi = 6.283185307179586;
    constexpr double word = 4294967296.0;
    const double first = std::sqrt(-2 * temperature * std::log((random.word[0] + 1.0) / word));
    const double second = std::sqrt(-2 * temperature * std::log((random.word[1] + 1.0) / word));
    const double first_angle = two_pi * random.word[2] / word;
    const double sign = identity % 2 == 0 ? 1 : -1;
    return {{static_cast<float>(sign * first * std::cos(first_angle)),
             static_cast<float>(sign * first * std::sin(first_angle)),
             static_cast<float>(sign * second * std::cos(two_pi * random.word[3] / word))},
            1};
  }
};

}  // namespace particles
