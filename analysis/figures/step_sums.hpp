// Adds up, step by step, what the ranks waited for. Knows neither how steps were found nor why a rank waited.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Ranks are added one after the other; ranks of unequal length are added step by step from the first one on.
/// Memory: some 90 bytes a step.
class StepSums {
 public:
  /// `bounds`: as step_bounds() gives them; must outlive the charges of the rank.
  void begin_rank(std::int32_t rank, std::span<const std::uint64_t> bounds);
  /// [begin, end) of a rank's time had this cause, but for what `hidden_by` covers, which leaves
  /// `counted_ns`. In order of time.
  void charge(std::uint64_t begin_ns, std::uint64_t end_ns, Cause cause, std::uint64_t counted_ns,
              const IntervalSet& hidden_by);
  /// Of ranks that come behind all of this one's.
  void merge(const StepSums& part);
  [[nodiscard]] std::vector<StepFigures> take() { return std::move(steps_); }
  /// See archive.hpp.
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
