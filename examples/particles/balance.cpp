#include "examples/particles/balance.hpp"

#include <algorithm>
#include <numeric>

namespace particles {
namespace {

constexpr std::uint32_t most = 255;

}  // namespace

std::vector<std::uint8_t> measured_weights(const std::vector<std::uint8_t>& fluid,
                                           const std::vector<std::uint32_t>& counts) {
  const std::uint32_t fullest = counts.empty() ? 0 : *std::max_element(counts.begin(), counts.end());
  const std::uint32_t scale = std::max((most - 1) / std::max(fullest, 1U), 1U);
  std::vector<std::uint8_t> weights(fluid.size());
  for (std::size_t voxel = 0; voxel < fluid.size(); ++voxel) {
    const std::uint64_t weight = 1 + std::uint64_t{counts[voxel]} * scale;
    weights[voxel] = fluid[voxel] > 0 ? static_cast<std::uint8_t>(std::min<std::uint64_t>(weight, most)) : 0;
  }
  return weights;
}

double imbalance_of(const Owners& owners, const std::vector<std::uint32_t>& counts, int pieces) {
  std::vector<std::int64_t> particles(static_cast<std::size_t>(pieces));
  for (std::size_t voxel = 0; voxel < owners.size(); ++voxel) {
    if (owners[voxel] != no_owner) {
      particles[static_cast<std::size_t>(owners[voxel])] += counts[voxel];
    }
  }
  const auto all = std::accumulate(particles.begin(), particles.end(), std::int64_t{0});
  const auto fullest = static_cast<double>(*std::max_element(particles.begin(), particles.end()));
  return all > 0 ? fullest * pieces / static_cast<double>(all) - 1 : 0;
}

std::vector<std::uint8_t> in_bytes(const std::vector<std::uint32_t>& counts) {
  std::vector<std::uint8_t> bytes(counts.size());
  std::transform(counts.begin(), counts.end(), bytes.begin(),
                 [](std::uint32_t count) { return static_cast<std::uint8_t>(std::min(count, most)); });
  return bytes;
}

}  // namespace particles
