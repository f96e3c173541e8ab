// Which capsules are near a point, without asking all of them. Knows no GPU.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/particles/box.hpp"
#include "examples/particles/capsule.hpp"

namespace particles {

/// The box in blocks, each with the capsules that are within `reach` of one of its points.
class CapsuleIndex {
 public:
  /// The capsules must outlive it.
  CapsuleIndex(const Box& box, const std::vector<Capsule>& capsules);

  static constexpr double reach = 4;

  /// Those near a point.
  [[nodiscard]] const std::vector<std::uint32_t>& near(Vector point) const;

  /// The signed distance from the union, if it is less than `reach`, else that.
  [[nodiscard]] double distance(Vector point) const;

 private:
  const std::vector<Capsule>& capsules_;
  double width_[3];
  std::uint32_t blocks_[3];
  std::vector<std::vector<std::uint32_t>> lists_;
};

}  // namespace particles
