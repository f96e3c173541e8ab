#include "examples/ising/reference.hpp"

namespace ising {
namespace {

class SerialGlass {
 public:
  SerialGlass(const Model& model, double temperature)
      : lattice_(model.lattice), metropolis_(temperature), seed_(model.seed) {
    const Lattice& lattice = lattice_;
    for (int z = 0; z < lattice.z; ++z) {
      for (int y = 0; y < lattice.y; ++y) {
        for (int x = 0; x < lattice.x; ++x) {
          starts_.push_back(start_of(model, {x, y, z}));
          spins_.push_back(static_cast<std::uint8_t>(starts_.back().spin));
        }
      }
    }
  }

  void update(Site site, std::uint32_t sweep) {
    const int column = site.x / 2;
    const auto group = static_cast<std::uint64_t>(
        (std::int64_t{site.z} * lattice_.y + site.y) * (lattice_.x / 8) + column / 4);
    const int colour = (site.x + site.y + site.z) % 2;
    const std::uint32_t random = update_randoms(group, colour, sweep, seed_).word[column % 4];
    if (metropolis_.flips(satisfied_bonds(site), random)) {
      spins_[index(site)] ^= 1u;
    }
  }

  [[nodiscard]] std::vector<std::uint8_t> take_spins() { return std::move(spins_); }

 private:
  [[nodiscard]] std::size_t index(Site site) const {
    const int x = wrap(site.x, lattice_.x);
    const int y = wrap(site.y, lattice_.y);
    const int z = wrap(site.z, lattice_.z);
    return static_cast<std::size_t>((std::int64_t{z} * lattice_.y + y) * lattice_.x + x);
  }

  [[nodiscard]] unsigned satisfied_bonds(Site site) const {
    const auto [x, y, z] = site;
    const std::size_t here = index(site);
    const auto satisfied = [&](Site neighbour, std::uint32_t bond) {
      const bool parallel = spins_[here] == spins_[index(neighbour)];
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
  Metropolis metropolis_;
  std::uint64_t seed_;
  std::vector<SiteStart> starts_;
  std::vector<std::uint8_t> spins_;
};

}  // namespace

std::vector<std::uint8_t> reference_spins(const Model& model, double temperature, std::uint32_t sweeps) {
  SerialGlass glass(model, temperature);
  const Lattice& lattice = model.lattice;
  for (std::uint32_t sweep = 0; sweep < sweeps; ++sweep) {
    for (int colour = 0; colour < 2; ++colour) {
      for (int z = 0; z < lattice.z; ++z) {
        for (int y = 0; y < lattice.y; ++y) {
          for (int x = (colour + y + z) % 2; x < lattice.x; x += 2) {
            glass.update({x, y, z}, sweep);
          }
        }
      }
    }
  }
  return glass.take_spins();
}

}  // namespace ising
