#include "examples/particles/capsule_index.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

constexpr double block_width = 4;

}  // namespace

CapsuleIndex::CapsuleIndex(const Box& box, const std::vector<Capsule>& capsules) : capsules_(capsules) {
  for (int axis = 0; axis < 3; ++axis) {
    blocks_[axis] = static_cast<std::uint32_t>(std::ceil(box.side[axis] / block_width));
    width_[axis] = box.side[axis] / blocks_[axis];
  }
  lists_.resize(std::size_t{blocks_[0]} * blocks_[1] * blocks_[2]);
  const double half_diagonal = length({width_[0], width_[1], width_[2]}) / 2;
  for (std::uint32_t index = 0; index < capsules.size(); ++index) {
    const Capsule& capsule = capsules[index];
    const double radius = std::max(capsule.from_radius, capsule.to_radius) + reach;
    const double from[3] = {capsule.from.x, capsule.from.y, capsule.from.z};
    const double to[3] = {capsule.to.x, capsule.to.y, capsule.to.z};
    std::uint32_t first[3];
    std::uint32_t extent[3];
    for (int axis = 0; axis < 3; ++axis) {
      const auto block = [&](double at) {
        return static_cast<std::uint32_t>(std::clamp(at / width_[axis], 0.0, blocks_[axis] - 1.0));
      };
      first[axis] = block(std::min(from[axis], to[axis]) - radius);
      extent[axis] = block(std::max(from[axis], to[axis]) + radius) - first[axis] + 1;
    }
    for_each_site(extent, [&](const Site& site) {
      const std::uint32_t at[3] = {first[0] + site.at[0], first[1] + site.at[1], first[2] + site.at[2]};
      const Vector centre{width_[0] * (at[0] + 0.5), width_[1] * (at[1] + 0.5), width_[2] * (at[2] + 0.5)};
      if (surface_of(capsule, centre).distance < half_diagonal + reach) {
        lists_[(std::size_t{at[2]} * blocks_[1] + at[1]) * blocks_[0] + at[0]].push_back(index);
      }
    });
  }
}

const std::vector<std::uint32_t>& CapsuleIndex::near(Vector point) const {
  const double at[3] = {point.x, point.y, point.z};
  std::size_t block = 0;
  for (int axis = 2; axis >= 0; --axis) {
    block = block * blocks_[axis] +
            static_cast<std::size_t>(std::clamp(at[axis] / width_[axis], 0.0, blocks_[axis] - 1.0));
  }
  return lists_[block];
}

double CapsuleIndex::distance(Vector point) const {
  double least = reach;
  for (const std::uint32_t index : near(point)) {
    least = std::min(least, surface_of(capsules_[index], point).distance);
  }
  return least;
}

}  // namespace particles
