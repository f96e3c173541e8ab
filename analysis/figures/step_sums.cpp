#include "analysis/figures/step_sums.hpp"

#include <algorithm>

namespace penstock::analysis {

void StepSums::begin_rank(std::int32_t rank, std::span<const std::uint64_t> bounds) {
  bounds_ = bounds;
  current_ = 0;
  if (bounds.size() < 2) {
    return;
  }
  steps_.resize(std::max(steps_.size(), bounds.size() - 1));
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const std::uint64_t took_ns = bounds[i + 1] - bounds[i];
    steps_[i].total_ns += took_ns;
    if (took_ns >= steps_[i].longest_ns) {
      steps_[i].longest_ns = took_ns;
      steps_[i].longest_rank = rank;
    }
  }
}

void StepSums::charge(std::uint64_t begin_ns, std::uint64_t end_ns, Cause cause, std::uint64_t counted_ns,
                      const IntervalSet& hidden_by) {
  while (current_ + 1 < bounds_.size() && bounds_[current_ + 1] <= begin_ns) {
    ++current_;
  }
  if (current_ + 1 < bounds_.size() && bounds_[current_] <= begin_ns && end_ns <= bounds_[current_ + 1]) {
    steps_[current_].by_cause[static_cast<std::size_t>(cause)] += counted_ns;
    return;
  }
  for (std::size_t step = current_; step + 1 < bounds_.size() && bounds_[step] < end_ns; ++step) {
    const std::uint64_t from_ns = std::max(begin_ns, bounds_[step]);
    const std::uint64_t to_ns = std::min(end_ns, bounds_[step + 1]);
    if (from_ns < to_ns) {
      steps_[step].by_cause[static_cast<std::size_t>(cause)] +=
          to_ns - from_ns - hidden_by.measure_within_ns(from_ns, to_ns);
    }
  }
}

void StepSums::merge(const StepSums& part) {
  steps_.resize(std::max(steps_.size(), part.steps_.size()));
  for (std::size_t i = 0; i < part.steps_.size(); ++i) {
    const StepFigures& added = part.steps_[i];
    StepFigures& step = steps_[i];
    step.total_ns += added.total_ns;
    if (added.longest_ns >= step.longest_ns) {
      step.longest_ns = added.longest_ns;
      step.longest_rank = added.longest_rank;
    }
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      step.by_cause[cause] += added.by_cause[cause];
    }
  }
}

}  // namespace penstock::analysis
