// The signed distance from a tapered capsule, the hull of two balls, in closed form, and the direction in
// which it grows. A vessel is the union of some. For kernels and the host. Source: I. Quilez, "Distance to a
// round cone".
#pragma once

#include <cmath>

#include "examples/support/philox.hpp"

namespace particles {

struct Vector {
  double x, y, z;
};

EXAMPLE_HOST_DEVICE inline Vector operator+(Vector a, Vector b) {
  return {a.x + b.x, a.y + b.y, a.z + b.z};
}
EXAMPLE_HOST_DEVICE inline Vector operator-(Vector a, Vector b) {
  return {a.x - b.x, a.y - b.y, a.z - b.z};
}
EXAMPLE_HOST_DEVICE inline Vector operator*(double factor, Vector a) {
  return {factor * a.x, factor * a.y, factor * a.z};
}
EXAMPLE_HOST_DEVICE inline double dot(Vector a, Vector b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
EXAMPLE_HOST_DEVICE inline double length(Vector a) {
  return std::sqrt(dot(a, a));
}

/// Neither ball contains the other.
struct Capsule {
  Vector from;
  Vector to;
  double from_radius;
  double to_radius;
};

/// The nearest point of a surface.
struct Surface {
  double distance;  ///< negative inside
  Vector normal;    ///< outwards
};

EXAMPLE_HOST_DEVICE inline Surface surface_of_ball(Vector centre, double radius, Vector point) {
  const Vector outwards = point - centre;
  const double from_centre = length(outwards);
  return {from_centre - radius, from_centre > 0 ? 1 / from_centre * outwards : Vector{1, 0, 0}};
}

EXAMPLE_HOST_DEVICE inline Surface surface_of(const Capsule& capsule, Vector point) {
  const Vector along = capsule.to - capsule.from;
  const double span = length(along);
  const Vector axis = 1 / span * along;
  const Vector relative = point - capsule.from;
  const double height = dot(relative, axis);
  const Vector across = relative - height * axis;
  const double radius = length(across);
  // The cone touches both balls: its normal leans along the axis by the sine of its half angle.
  const double sine = (capsule.from_radius - capsule.to_radius) / span;
  const double cosine = std::sqrt(1 - sine * sine);
  const double foot =
      (height * cosine - radius * sine) / cosine;  // of the normal through the point, on the axis
  if (foot <= 0) {
    return surface_of_ball(capsule.from, capsule.from_radius, point);
  }
  if (foot >= span) {
    return surface_of_ball(capsule.to, capsule.to_radius, point);
  }
  const Vector outwards = radius > 0 ? 1 / radius * across : Vector{0, 0, 0};
  return {radius * cosine + height * sine - capsule.from_radius, cosine * outwards + sine * axis};
}

/// Of the union.
EXAMPLE_HOST_DEVICE inline Surface surface_of(const Capsule* capsules, int count, Vector point) {
  Surface nearest = surface_of(capsules[0], point);
  for (int index = 1; index < count; ++index) {
    const Surface other = surface_of(capsules[index], point);
    if (other.distance < nearest.distance) {
      nearest = other;
    }
  }
  return nearest;
}

}  // namespace particles
