// Finds small collective calls that another one follows at once, and reductions of scalars that are made
// again and again, and tries the job with fewer. Must not know other changes.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// Thread: one at a time. Memory: some 60 bytes a small collective.
class Reductions {
 public:
  void add(const GraphRank& rank);
  void propose(const Trial& trial);

 private:
  struct Small {
    std::uint32_t site = ReplayGraph::no_site;
    std::uint32_t site_before = ReplayGraph::no_site;  ///< of the collective that it could join
    std::uint32_t ranks = 0;
    std::uint32_t could_join = 0;  ///< on so many of these
    bool is_scalar = true;         ///< or a barrier
    std::uint64_t time_ns = 0;
  };
  void combine(const Trial& trial);
  void reduce_less_often(const Trial& trial) const;

  std::map<std::uint32_t, Small>
      collectives_;             ///< by the graph's number, which is that of the first rank's order
  std::vector<bool> combined_;  ///< by site: advised to be combined
};

}  // namespace penstock::analysis
