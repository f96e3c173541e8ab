// Adds up each rank's time: kernels, communication, what is exposed and what is hidden. The report's totals
// are the sums of all counted ranks.
#pragma once

#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class RankSums {
 public:
  void add(const WaitInput& wait) {
    by_cause_[wait.cause()] += wait.counted_ns;
    within_error_[wait.cause()] += wait.within_error_ns;
  }
  void add(const RankInput& rank);
  auto members() { return std::tie(ranks_); }
  void finish(Report& report, SiteNames& names);

 private:
  std::vector<RankFigures> ranks_;
  TimeByCause by_cause_{};  ///< of the rank that is being fed
  TimeByCause within_error_{};
};

}  // namespace penstock::analysis
