// Assigns the GPUs of a host to its processes. This file knows no MPI and no CUDA: all processes compute the
// same assignment from the same demands.
#pragma once

#include <array>
#include <string>
#include <vector>

namespace gmh {

/// A GPU's UUID, which does not depend on CUDA_VISIBLE_DEVICES.
using GpuId = std::array<char, 16>;

struct Demand {
  int mpi_rank;
  int gpus;                    ///< number requested
  std::vector<GpuId> visible;  ///< in the order of the process's device numbers
};

struct Assignment {
  std::vector<std::vector<int>> devices;  ///< for each demand, the device numbers of its virtual GPUs
  std::string complaint;                  ///< why there is no assignment; empty on success
};

/// Assigns each GPU to one thread at most, unless `share` is set and there are too few GPUs.
[[nodiscard]] Assignment assign_gpus(const std::vector<Demand>& demands, bool share);

}  // namespace gmh
