#include "examples/particles/domain.hpp"

#include <algorithm>
#include <cmath>

#include "examples/particles/capsule_index.hpp"
#include "examples/particles/vessels.hpp"

namespace particles {
namespace {

/// Cells between a vessel and the side of its box: there, positions may wrap without meeting others.
constexpr double margin = 1;

/// The box around a vessel, which is moved into it.
void enclose(Domain& domain) {
  double low[3] = {1e300, 1e300, 1e300};
  double high[3] = {-1e300, -1e300, -1e300};
  const auto include = [&](Vector centre, double radius) {
    const double at[3] = {centre.x, centre.y, centre.z};
    for (int axis = 0; axis < 3; ++axis) {
      low[axis] = std::min(low[axis], at[axis] - radius);
      high[axis] = std::max(high[axis], at[axis] + radius);
    }
  };
  for (const Capsule& capsule : domain.capsules) {
    include(capsule.from, capsule.from_radius);
    include(capsule.to, capsule.to_radius);
  }
  double shift[3];
  for (int axis = 0; axis < 3; ++axis) {
    domain.box.side[axis] = std::ceil(high[axis] - low[axis] + 2 * margin);
    shift[axis] = (domain.box.side[axis] - low[axis] - high[axis]) / 2;
  }
  for (Capsule& capsule : domain.capsules) {
    capsule.from = capsule.from + Vector{shift[0], shift[1], shift[2]};
    capsule.to = capsule.to + Vector{shift[0], shift[1], shift[2]};
  }
}

}  // namespace

Domain make_domain(const Options& options) {
  Domain domain;
  domain.bounces_back = options.bounces_back;
  if (!options.has_vessel()) {
    std::copy(options.size.begin(), options.size.end(), domain.box.side);
  } else {
    Vessels vessels = make_vessels(options);
    domain.capsules = std::move(vessels.capsules);
    domain.complaint = std::move(vessels.complaint);
    if (!domain.complaint.empty()) {
      return domain;
    }
    enclose(domain);
  }
  for (int axis = 0; axis < 3; ++axis) {
    domain.box.cells[axis] = static_cast<std::uint32_t>(domain.box.side[axis]);
  }
  domain.box.voxels_per_cell = options.voxels_per_cutoff;
  return domain;
}

Start make_start(const Options& options, const Domain& domain) {
  Start start{domain.box,
              {},
              static_cast<float>(options.temperature),
              options.seed,
              options.pair == PairForce::soft ? 2U : 16U};  // a core must not be met
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
  if (domain.box.voxel_count() > INT64_C(1) << 32) {  // a host keeps four bytes of each
    return "the box has more than 2^32 voxels; take a smaller --size or --voxels-per-cutoff";
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
  const CapsuleIndex index(box, domain.capsules);
  const Site voxels = box.voxels();
  const std::uint32_t halves[3] = {2 * voxels.at[0], 2 * voxels.at[1], 2 * voxels.at[2]};
  std::uint8_t* next = fluid.data();
  for_each_site(voxels.at, [&](const Site& site) {
    const Ball ball = around(box, site, voxels.at);
    const double distance = index.distance(ball.centre);
    constexpr double rounding = 1e-6;
    if (distance > ball.radius + rounding) {
      *next = 0;
    } else if (distance > -ball.radius) {
      int inside = 0;
      for (std::uint32_t part = 0; part < 8; ++part) {
        const Site half{
            {2 * site.at[0] + part % 2, 2 * site.at[1] + part / 2 % 2, 2 * site.at[2] + part / 4}};
        inside += index.distance(around(box, half, halves).centre) <= 0 ? 1 : 0;
      }
      *next = static_cast<std::uint8_t>(std::max(inside, 1));
    }
    ++next;
  });
  return fluid;
}

}  // namespace particles
