#include "examples/particles/domain.hpp"

#include <algorithm>
#include <cmath>

namespace particles {
namespace {

/// Cells between a vessel and the side of its box: there, positions may wrap without meeting others.
constexpr double margin = 1;

double side_with_margin(double extent) {
  return std::ceil(extent + 2 * margin);
}

}  // namespace

Domain make_domain(const Options& options) {
  Domain domain;
  domain.bounces_back = options.bounces_back;
  if (options.shape == Shape::box) {
    std::copy(options.size.begin(), options.size.end(), domain.box.side);
  } else {
    const auto [first, second] = options.radii;
    const double widest = std::max(first, second);
    const double across = side_with_margin(2 * widest);
    const Vector from{margin + first, across / 2, across / 2};
    domain.capsules.push_back({from, from + Vector{options.size[0], 0, 0}, first, second});
    domain.box.side[0] = side_with_margin(first + options.size[0] + second);
    domain.box.side[1] = across;
    domain.box.side[2] = across;
  }
  for (int axis = 0; axis < 3; ++axis) {
    domain.box.cells[axis] = static_cast<std::uint32_t>(domain.box.side[axis]);
  }
  domain.box.voxels_per_cell = options.voxels_per_cutoff;
  return domain;
}

Start make_start(const Options& options, const Domain& domain) {
  Start start{domain.box, {}, static_cast<float>(options.temperature), options.seed};
  const double sites_of_cutoff = std::cbrt(options.density);
  for (int axis = 0; axis < 3; ++axis) {
    start.sites[axis] = static_cast<std::uint32_t>(std::lround(domain.box.side[axis] * sites_of_cutoff));
  }
  return start;
}

std::string size_complaint(const Domain& domain, const Start& start) {
  const auto count = [](const std::uint32_t(&sites)[3]) { return 1.0 * sites[0] * sites[1] * sites[2]; };
  if (count(start.sites) >= no_identity) {
    return "the box has room for " + std::to_string(start.site_count()) +
           " particles, and identities are 32-bit numbers; take a smaller --size or --density";
  }
  if (count(start.sites) == 0) {
    return "there are no particles; take a larger --density";
  }
  if (count(domain.box.cells) >= 1U << 30) {
    return "the box has 2^30 cells or more, whose numbers have 30 bits; take a smaller --size";
  }
  return {};
}

Ball around(const Box& box, const Site& site, const std::uint32_t (&parts)[3]) {
  const Vector side{box.side[0] / parts[0], box.side[1] / parts[1], box.side[2] / parts[2]};
  return {{side.x * (site.at[0] + 0.5), side.y * (site.at[1] + 0.5), side.z * (site.at[2] + 0.5)},
          length(side) / 2};
}

std::vector<std::uint8_t> fluid_of(const Domain& domain) {
  const Box& box = domain.box;
  constexpr std::uint8_t whole = 8;
  std::vector<std::uint8_t> fluid(static_cast<std::size_t>(box.voxel_count()), whole);
  if (domain.capsules.empty()) {
    return fluid;
  }
  const Wall wall = domain.wall();
  const std::uint32_t voxels[3] = {box.voxels(0), box.voxels(1), box.voxels(2)};
  const std::uint32_t halves[3] = {2 * voxels[0], 2 * voxels[1], 2 * voxels[2]};
  std::uint8_t* next = fluid.data();
  for_each_site(voxels, [&](const Site& site) {
    const Ball ball = around(box, site, voxels);
    const double distance = surface_of(wall.capsules, wall.count, ball.centre).distance;
    constexpr double rounding = 1e-6;
    if (distance > ball.radius + rounding) {
      *next = 0;
    } else if (distance > -ball.radius) {
      int inside = 0;
      for (std::uint32_t part = 0; part < 8; ++part) {
        const Site half{
            {2 * site.at[0] + part % 2, 2 * site.at[1] + part / 2 % 2, 2 * site.at[2] + part / 4}};
        inside += wall.has_outside(around(box, half, halves).centre) ? 0 : 1;
      }
      *next = static_cast<std::uint8_t>(std::max(inside, 1));
    }
    ++next;
  });
  return fluid;
}

}  // namespace particles
