#include "examples/ising/theory.hpp"

#include <cmath>
#include <cstdint>
#include <numbers>
#include <vector>

namespace ising {
namespace {

constexpr std::int64_t most_spins_to_enumerate = 20;

struct Bond {
  std::uint64_t a;
  std::uint64_t b;
  int coupling;
};

std::vector<Bond> bonds_in(const Model& model) {
  const auto [extent_x, extent_y, extent_z] = model.lattice;
  std::vector<Bond> bonds;
  for (int z = 0; z < extent_z; ++z) {
    for (int y = 0; y < extent_y; ++y) {
      for (int x = 0; x < extent_x; ++x) {
        const std::uint64_t here = index_of(model.lattice, {x, y, z});
        const SiteStart start = start_of(model, {x, y, z});
        const auto add = [&](Site neighbour, std::uint32_t bond) {
          bonds.push_back({here, index_of(model.lattice, neighbour), bond == 1 ? 1 : -1});
        };
        add({(x + 1) % extent_x, y, z}, start.bond_x);
        if (model.lattice.dimensions() == 3) {
          add({x, (y + 1) % extent_y, z}, start.bond_y);
        }
        add({x, y, (z + 1) % extent_z}, start.bond_z);
      }
    }
  }
  return bonds;
}

Theory enumeration(const Model& model, double temperature) {
  const std::vector<Bond> bonds = bonds_in(model);
  const auto lowest = -static_cast<double>(bonds.size());  // no state is below: weights stay finite
  double weights = 0;
  double first = 0;
  double second = 0;
  for (std::uint64_t state = 0; state < std::uint64_t{1} << model.lattice.sites(); ++state) {
    int energy = 0;
    for (const Bond& bond : bonds) {
      const bool parallel = ((state >> bond.a ^ state >> bond.b) & 1) == 0;
      energy -= parallel ? bond.coupling : -bond.coupling;
    }
    const double weight = std::exp((lowest - energy) / temperature);
    weights += weight;
    first += weight * energy;
    second += weight * energy * energy;
  }
  const double mean = first / weights;
  const auto sites = static_cast<double>(model.lattice.sites());
  return {"exact enumeration", mean / sites, std::sqrt(std::fmax(second / weights - mean * mean, 0)) / sites};
}

/// Not only the mean is known: spins and couplings can be flipped together until all spins are up, so that
/// energies are distributed like the sum of independent couplings.
Theory nishimori_line(const Model& model, double temperature) {
  const double mean = std::tanh(1.0 / temperature);
  const int bonds_a_spin = model.lattice.dimensions();
  return {"the Nishimori line", -bonds_a_spin * mean,
          std::sqrt(bonds_a_spin * (1.0 - mean * mean) / static_cast<double>(model.lattice.sites()))};
}

Theory onsager(const Model& model, double temperature) {
  const double step = 1e-4 * temperature;
  const double specific_heat =
      (onsager_energy(temperature + step) - onsager_energy(temperature - step)) / (2 * step);
  return {"Onsager's solution", onsager_energy(temperature),
          temperature * std::sqrt(specific_heat / static_cast<double>(model.lattice.sites()))};
}

}  // namespace

double onsager_energy(double temperature) {
  const double coupling = 1.0 / temperature;
  const double hyperbolic = std::tanh(2.0 * coupling);
  const double modulus = 2.0 * hyperbolic / std::cosh(2.0 * coupling);
  return -(1.0 +
           2.0 / std::numbers::pi * (2.0 * hyperbolic * hyperbolic - 1.0) * std::comp_ellint_1(modulus)) /
         hyperbolic;
}

std::optional<Theory> theory_of(const Model& model, double temperature) {
  if (temperature == 0) {
    return std::nullopt;
  }
  if (model.lattice.sites() <= most_spins_to_enumerate) {
    return enumeration(model, temperature);
  }
  if (model.couplings == Couplings::nishimori) {
    return nishimori_line(model, temperature);
  }
  if (model.couplings == Couplings::ferromagnet && model.lattice.dimensions() == 2) {
    return onsager(model, temperature);
  }
  return std::nullopt;
}

}  // namespace ising
