// The same simulation as plain serial host code, to check the GPUs' result against: spin by spin, replica by
// replica. Slow and simple on purpose.
#pragma once

#include <cstdint>
#include <vector>

#include "examples/ising/model.hpp"

namespace ising {

/// Spins after `sweeps` sweeps from the model's start: a word for every site, with a bit for each replica; x
/// runs fastest, then y, then z.
[[nodiscard]] std::vector<std::uint32_t> reference_spins(const Model& model, int replicas, double temperature,
                                                         std::uint32_t sweeps);

}  // namespace ising
