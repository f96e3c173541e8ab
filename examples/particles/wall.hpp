// What a wall does to a particle that has crossed it within a step. For kernels and the host.
#pragma once

#include "examples/particles/capsule.hpp"

namespace particles {

struct Wall {
  const Capsule* capsules;  ///< as whoever asks can read them
  int count;                ///< 0: there is no wall
  bool bounces_back;        ///< the velocity is turned round; else it is reflected as light is

  [[nodiscard]] EXAMPLE_HOST_DEVICE bool has_outside(Vector point) const {
    return surface_of(capsules, count, point).distance > 0;
  }
};

/// The way of a particle in a step.
struct Path {
  Vector from;
  Vector to;
  Vector velocity;
};

/// A path that leads out is reflected where it meets the surface, up to four times. False if it still leads
/// out: the particle is then where it was, and its velocity is turned round.
EXAMPLE_HOST_DEVICE inline bool reflect(const Wall& wall, Path& path) {
  const Path start = path;
  Vector from = path.from;
  for (int turn = 0; turn < 4; ++turn) {
    if (!wall.has_outside(path.to)) {
      return true;
    }
    const Vector way = path.to - from;
    double inside = 0;
    double outside = 1;
    for (int halving = 0; halving < 48; ++halving) {
      const double middle = 0.5 * (inside + outside);
      (wall.has_outside(from + middle * way) ? outside : inside) = middle;
    }
    const Vector hit = from + inside * way;
    const Vector rest = path.to - hit;
    if (wall.bounces_back) {
      path.to = hit - rest;
      path.velocity = -1.0 * path.velocity;
    } else {
      const Vector normal = surface_of(wall.capsules, wall.count, hit).normal;
      path.to = hit + (rest - 2 * dot(rest, normal) * normal);
      path.velocity = path.velocity - 2 * dot(path.velocity, normal) * normal;
    }
    from = hit;
  }
  if (!wall.has_outside(path.to)) {
    return true;
  }
  path = {start.from, start.from, -1.0 * start.velocity};
  return false;
}

}  // namespace particles
