#include "examples/ising/reference.hpp"

#include <array>
#include <utility>

#include "examples/ising/metropolis.hpp"

namespace ising {
namespace {

class SerialGlass {
 public:
  SerialGlass(const Model& model, int replicas, double temperature)
      : lattice_(model.lattice), replicas_(replicas), metropolis_(temperature), seed_(model.seed) {
    for (int z = 0; z < lattice_.z; ++z) {
      for (int y = 0; y < lattice_.y; ++y) {
        for (int x = 0; x < lattice_.x; ++x) {
          starts_.push_back(start_of(model, {x, y, z}));
          spins_.push_back(replicas == 1 ? starts_.back().spin : replicas_start_of(model, {x, y, z}));
        }
      }
    }
  }

  void update(Site site, std::uint32_t sweep) {
    const Randoms randoms = replicas_ == 1 ? random(site, sweep) : replicas_randoms(site, sweep);
    for (int replica = 0; replica < replicas_; ++replica) {
      if (metropolis_.flips(satisfied_bonds(site, replica), randoms[static_cast<std::size_t>(replica)])) {
        spins_[index(site)] ^= 1u << replica;
      }
    }
  }

  [[nodiscard]] std::vector<std::uint32_t> take_spins() { return std::move(spins_); }

 private:
  [[nodiscard]] std::size_t index(Site site) const {
    return index_of(lattice_, {wrap(site.x, lattice_.x), wrap(site.y, lattice_.y), wrap(site.z, lattice_.z)});
  }

  using Randoms = std::array<std::uint32_t, replicas_in_a_word>;

  [[nodiscard]] Randoms random(Site site, std::uint32_t sweep) const {
    const int column = site.x / 2;
    const auto group = static_cast<std::uint64_t>(
        (std::int64_t{site.z} * lattice_.y + site.y) * (lattice_.x / 8) + column / 4);
    const int colour = (site.x + site.y + site.z) % 2;
    return {update_randoms(group, colour, sweep, seed_).word[column % 4]};
  }

  [[nodiscard]] Randoms replicas_randoms(Site site, std::uint32_t sweep) const {
    Randoms numbers{};
    for (int bit = 0; bit < 32; ++bit) {
      const std::uint32_t word = replicas_update_randoms(index(site), bit / 4, sweep, seed_).word[bit % 4];
      for (std::size_t replica = 0; replica < numbers.size(); ++replica) {
        numbers[replica] |= (word >> replica & 1u) << bit;
      }
    }
    return numbers;
  }

  [[nodiscard]] unsigned satisfied_bonds(Site site, int replica) const {
    const auto [x, y, z] = site;
    const std::size_t here = index(site);
    const auto satisfied = [&](Site neighbour, std::uint32_t bond) {
      const bool parallel = ((spins_[here] ^ spins_[index(neighbour)]) >> replica & 1u) == 0;
      return parallel == (bond == 1) ? 1u : 0u;
    };
    const unsigned along_x = satisfied({x + 1, y, z}, starts_[here].bond_x) +
                             satisfied({x - 1, y, z}, starts_[index({x - 1, y, z})].bond_x);
    const unsigned along_z = satisfied({x, y, z + 1}, starts_[here].bond_z) +
                             satisfied({x, y, z - 1}, starts_[index({x, y, z - 1})].bond_z);
    if (lattice_.dimensions() == 2) {
      return along_x + 1 + along_z;
    }
    return along_x + along_z + satisfied({x, y + 1, z}, starts_[here].bond_y) +
           satisfied({x, y - 1, z}, starts_[index({x, y - 1, z})].bond_y);
  }

  Lattice lattice_;
  int replicas_;
  Metropolis metropolis_;
  std::uint64_t seed_;
  std::vector<SiteStart> starts_;
  std::vector<std::uint32_t> spins_;
};

}  // namespace

std::vector<std::uint32_t> reference_spins(const Model& model, int replicas, double temperature,
                                           std::uint32_t sweeps) {
  SerialGlass glass(model, replicas, temperature);
  const Lattice& lattice = model.lattice;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    for (int phase = 0; phase < phases_of(lattice); ++phase) {
      for (int z = 0; z < lattice.z; ++z) {
        for (int y = 0; y < lattice.y; ++y) {
          for (int x = 0; x < lattice.x; ++x) {
            if (phase_of_slice(lattice, (x + y + z) % lattice.z) == phase) {
              glass.update({x, y, z}, sweep);
            }
          }
        }
      }
    }
  }
  return glass.take_spins();
}

}  // namespace ising
