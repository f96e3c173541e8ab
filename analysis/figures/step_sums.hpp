// Adds up the ranks' waits, step by step. Must not know how steps were found nor why a rank waited.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// If ranks have different numbers of steps, steps are matched from the first one on. Memory: some 90 bytes a
/// step.
class StepSums {
 public:
  explicit StepSums(const FigureContext& context) : mark_(context.mark) {}
  void add(const WaitInput& wait) {
    const std::vector<std::uint64_t>& bounds = wait.call.rank.window.step_bounds;
    make_room_for(bounds);
    while (current_ + 1 < bounds.size() && bounds[current_ + 1] <= wait.begin_ns) {
      ++current_;
    }
    if (current_ + 1 < bounds.size() && bounds[current_] <= wait.begin_ns &&
        wait.end_ns <= bounds[current_ + 1]) {
      steps_[current_].by_cause[wait.cause()] += wait.counted_ns;
    } else {
      divide(wait);
    }
  }
  void add(const RankInput& rank);
  void merge(StepSums&& part, const Renumbering& numbers);
  auto members() { return std::tie(steps_, before_, behind_, fewest_, rank_of_fewest_); }
  void finish(Report& report, SiteNames& names);

 private:
  void make_room_for(const std::vector<std::uint64_t>& bounds) {
    if (bounds.size() > steps_.size() + 1) {
      steps_.resize(bounds.size() - 1);
    }
  }
  void divide(const WaitInput& wait);
  void note_steps(std::uint64_t steps, std::int32_t rank) noexcept;

  const std::optional<StepMark>& mark_;
  std::size_t current_ = 0;  ///< the step of the rank's last wait, which the next one does not precede
  std::vector<StepFigures> steps_;
  OutsideFigures before_;
  OutsideFigures behind_;
  std::uint64_t fewest_ = ~std::uint64_t{0};  ///< steps of a counted rank
  std::int32_t rank_of_fewest_ = -1;
};

}  // namespace penstock::analysis
