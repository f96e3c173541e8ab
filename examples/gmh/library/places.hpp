// Agrees with the other processes on the GPUs of each.
#pragma once

#include <vector>

#include "examples/gmh/library/ranks.hpp"

namespace gmh {

struct Places {
  Ranks ranks;
  std::vector<int> devices;  ///< of this process's virtual GPUs
};

/// Initialises MPI unless the program has, and assigns GPUs. Throws on all processes or on none. Collective.
[[nodiscard]] Places find_places(int* argc, char*** argv, int gpus, bool has_function);

}  // namespace gmh
