// Adds up how efficient the ranks are in each batch of neighbouring steps. Must not know causes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/figures/efficiency_sums.hpp"
#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

class EfficiencyOverTime {
 public:
  void add(const RankInput& rank) {
    if (!rank.is_counted || rank.window.step_bounds.size() < 2) {
      return;
    }
    const std::vector<std::uint64_t>& bounds = rank.window.step_bounds;
    const std::size_t steps = bounds.size() - 1;
    for (std::size_t batch = 0; batch < batches_of(steps); ++batch) {
      const std::uint64_t begin_ns = bounds[first_of_batch(steps, batch)];
      const std::uint64_t end_ns = bounds[first_of_batch(steps, batch + 1)];
      const std::uint64_t idle_ns = rank.window.timeline.idle.measure_within_ns(begin_ns, end_ns);
      batches_[batch].add(end_ns - begin_ns, end_ns - begin_ns - idle_ns);
    }
  }
  auto members() { return std::tie(batches_); }
  /// Behind the steps' own figures.
  void finish(Report& report, SiteNames&) {
    const std::size_t steps = report.steps ? report.steps->each.size() : 0;
    for (std::size_t batch = 0; steps > 1 && batch < batches_of(steps); ++batch) {
      const std::size_t first = first_of_batch(steps, batch);
      const std::size_t count = first_of_batch(steps, batch + 1) - first;
      if (const std::optional<PhaseEfficiency> efficiency = batches_[batch].of(report.counted_ranks)) {
        report.steps->efficiency_over_time.push_back({first, count, batches_[batch].total_ns(), *efficiency});
      }
    }
  }

 private:
  std::array<EfficiencySums, most_step_batches> batches_;
};

}  // namespace penstock::analysis
