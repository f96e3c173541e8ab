// Collects where each rank ran, as it noted it. Must not know what is wrong with that.
#pragma once

#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class Placements {
 public:
  void add(const RankInput& rank);
  auto members() { return std::tie(ranks_); }
  void finish(Report& report, SiteNames& names);

 private:
  std::vector<PlacementFigures> ranks_;  ///< that noted anything
};

}  // namespace penstock::analysis
