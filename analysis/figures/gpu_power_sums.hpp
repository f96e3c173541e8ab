// What GPUs used, and how often they were throttled, from the samples of a rank that used them. Must not know
// why.
#pragma once

#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// A GPU that several ranks use is that of the first one: all of them sampled it.
class GpuPowerSums {
 public:
  void add(const RankInput& rank);
  auto members() { return std::tie(gpus_); }
  void finish(Report& report, SiteNames& names);

 private:
  std::vector<GpuPowerFigures> gpus_;  ///< of each rank that is counted
};

}  // namespace penstock::analysis
