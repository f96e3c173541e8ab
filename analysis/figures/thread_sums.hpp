// Adds up each thread's time as rank_sums does each rank's, in ranks where several threads communicate, with
// the NVTX ranges of the thread.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class ThreadSums {
 public:
  explicit ThreadSums(const FigureContext& context)
      : is_exposed_(context.choice.measure == Measure::exposed_communication) {}
  void add(const RankInput& rank);
  auto members() { return std::tie(ranks_); }
  void finish(Report& report, SiteNames& names);

 private:
  struct OfRank {
    std::int32_t rank = 0;
    std::vector<ThreadFigures> threads;
    auto members() { return std::tie(rank, threads); }
  };

  bool is_exposed_;
  std::vector<OfRank> ranks_;
};

}  // namespace penstock::analysis
