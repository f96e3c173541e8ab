// What theory says of the energy: an oracle that knows nothing of how spins are stored or updated.
#pragma once

#include <optional>

#include "examples/ising/model.hpp"

namespace ising {

struct Theory {
  const char* name;
  double energy_per_spin;  ///< its mean in equilibrium
  double deviation;        ///< standard deviation of the energy per spin of one replica at one time
};

/// All states of a lattice of up to 20 spins, with its couplings; the Nishimori line; the ferromagnet of two
/// dimensions, where the lattice is much larger than the correlation length. Else, and at T = 0, nothing.
[[nodiscard]] std::optional<Theory> theory_of(const Model& model, double temperature);

/// Energy per spin of the infinite ferromagnet of two dimensions. Source: L. Onsager, Phys. Rev. 65, 117
/// (1944).
[[nodiscard]] double onsager_energy(double temperature);

}  // namespace ising
