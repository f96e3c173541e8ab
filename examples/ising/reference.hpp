// The same simulation as plain serial host code, to check the GPUs' result against. Slow and simple on
// purpose.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/ising/model.hpp"

namespace ising {

/// Spins (0 or 1) after `sweeps` sweeps from the model's start; x runs fastest, then y, then z.
[[nodiscard]] std::vector<std::uint8_t> reference_spins(const Model& model, double temperature,
                                                        std::uint32_t sweeps);

}  // namespace ising
