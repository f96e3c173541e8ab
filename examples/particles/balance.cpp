#include "examples/particles/balance.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

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

Owners renumbered(Owners owners, const Owners& before, const std::vector<std::uint32_t>& counts, int pieces) {
  std::map<std::pair<Owner, Owner>, std::int64_t> shared;  // particles of a new piece and an old one
  auto last = shared.end();                                // most voxels are like the one before
  for (std::size_t voxel = 0; voxel < owners.size(); ++voxel) {
    if (owners[voxel] != no_owner && counts[voxel] > 0) {
      const std::pair both{owners[voxel], before[voxel]};
      if (last == shared.end() || last->first != both) {
        last = shared.try_emplace(both, 0).first;
      }
      last->second += counts[voxel];
    }
  }
  std::vector<std::pair<std::pair<Owner, Owner>, std::int64_t>> pairs(shared.begin(), shared.end());
  std::stable_sort(pairs.begin(), pairs.end(),
                   [](const auto& one, const auto& other) { return one.second > other.second; });
  std::vector<Owner> number(static_cast<std::size_t>(pieces), no_owner);
  std::vector<bool> is_taken(number.size());
  const auto give = [&](Owner piece, Owner wanted) {
    const auto index = static_cast<std::size_t>(piece);
    if (number[index] == no_owner && !is_taken[static_cast<std::size_t>(wanted)]) {
      number[index] = wanted;
      is_taken[static_cast<std::size_t>(wanted)] = true;
    }
  };
  for (const auto& [both, particles] : pairs) {
    give(both.first, both.second);
  }
  for (int piece = 0; piece < pieces; ++piece) {  // those that share nothing take what is left
    const auto free = std::find(is_taken.begin(), is_taken.end(), false) - is_taken.begin();
    if (free < pieces) {
      give(static_cast<Owner>(piece), static_cast<Owner>(free));
    }
  }
  for (Owner& owner : owners) {
    owner = owner == no_owner ? no_owner : number[static_cast<std::size_t>(owner)];
  }
  return owners;
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
