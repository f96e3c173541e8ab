// Tries the job with receives that are posted before the kernels behind which they were posted. Must not know
// other changes.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: 16 bytes a late receive.
class EarlyReceives {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial) const;

 private:
  struct Hidden {
    NodeId end;  ///< of the call that completes the message
    std::uint64_t time_ns;
  };
  std::map<std::uint32_t, std::vector<Hidden>> sites_;  ///< by the site that posts
};

}  // namespace penstock::analysis
