// The same simulation as plain serial host code, to check the GPUs' result against. Slow and simple on
// purpose.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/ising/model.hpp"

namespace ising {

/// Spins (0 or 1) after `sweeps` sweeps from the random start that `seed` names; x runs fastest, then y, then
/// z.
[[nodiscard]] std::vector<std::uint8_t> reference_spins(const Lattice& lattice, double temperature,
                                                        std::uint64_t seed, std::uint32_t sweeps);

}  // namespace ising
