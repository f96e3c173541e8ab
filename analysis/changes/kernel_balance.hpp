// Tries the job with kernels that run equally long on all ranks. Must not know other changes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: proportional to ranks and to distinct kernels.
class KernelBalance {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial) const;

 private:
  struct OfRank {
    std::uint64_t total_ns = 0;
    std::map<std::uint32_t, std::uint64_t> by_name;
  };
  std::vector<OfRank> ranks_;  ///< by position
};

}  // namespace penstock::analysis
