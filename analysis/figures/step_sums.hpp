// Adds up the ranks' waits, step by step. Must not know how steps were found nor why a rank waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Ranks are added one after the other. If ranks have different numbers of steps, steps are matched from the
/// first one on. Memory: some 90 bytes a step.
class StepSums {
 public:
  /// Starts a rank. `bounds`: from step_bounds(); must outlive the rank's charges.
  void begin_rank(std::int32_t rank, std::span<const std::uint64_t> bounds);
  /// Adds a wait: [begin, end) of a rank's time had this cause, and `counted_ns` remain outside `hidden_by`.
  /// Waits must be in time order.
  void charge(std::uint64_t begin_ns, std::uint64_t end_ns, Cause cause, std::uint64_t counted_ns,
              const IntervalSet& hidden_by);
  /// Merges sums of ranks that follow all of these ranks.
  void merge(const StepSums& part);
  [[nodiscard]] std::vector<StepFigures> take() { return std::move(steps_); }
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(steps_);
  }

 private:
  std::span<const std::uint64_t> bounds_;
  std::size_t current_ = 0;
  std::vector<StepFigures> steps_;
};

}  // namespace penstock::analysis
