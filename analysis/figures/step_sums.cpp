#include "analysis/figures/step_sums.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "analysis/figures/run_to_run.hpp"
#include "analysis/tables/median.hpp"

namespace penstock::analysis {
namespace {

/// A rank of a killed job may be a step ahead of others, and another where knowledge begins late.
constexpr std::uint64_t most_steps_ahead = 2;

void add_length(StepFigures& step, std::uint64_t took_ns, std::int32_t rank) {
  if (took_ns >= step.longest_ns) {
    step.longest_ns = took_ns;
    step.longest_rank = rank;
  }
}

void add_outside(OutsideFigures& all, const OutsideFigures& some) {
  all.total_ns += some.total_ns;
  all.counted_ns += some.counted_ns;
}

}  // namespace

/// Divides a wait that is not in one step among its steps.
void StepSums::divide(const WaitInput& wait) {
  const std::vector<std::uint64_t>& bounds = wait.call.rank.window.step_bounds;
  for (std::size_t step = current_; step + 1 < bounds.size() && bounds[step] < wait.end_ns; ++step) {
    const std::uint64_t from_ns = std::max(wait.begin_ns, bounds[step]);
    const std::uint64_t to_ns = std::min(wait.end_ns, bounds[step + 1]);
    if (from_ns < to_ns) {
      steps_[step].by_cause[wait.cause()] +=
          to_ns - from_ns - wait.call.rank.hidden_by.measure_within_ns(from_ns, to_ns);
    }
  }
}

void StepSums::note_steps(std::uint64_t steps, std::int32_t rank) noexcept {
  if (steps < fewest_ || (steps == fewest_ && rank < rank_of_fewest_)) {
    fewest_ = steps;
    rank_of_fewest_ = rank;
  }
}

void StepSums::add(const RankInput& rank) {
  if (!rank.is_counted) {
    return;
  }
  add_outside(before_, rank.before);
  add_outside(behind_, rank.behind);
  const std::vector<std::uint64_t>& bounds = rank.window.step_bounds;
  make_room_for(bounds);
  note_steps(bounds.empty() ? 0 : bounds.size() - 1, rank.trace.header.world_rank);
  for (std::size_t i = 0; i + 1 < bounds.size(); ++i) {
    const std::uint64_t took_ns = bounds[i + 1] - bounds[i];
    steps_[i].total_ns += took_ns;
    add_length(steps_[i], took_ns, rank.trace.header.world_rank);
  }
  current_ = 0;
}

void StepSums::merge(StepSums&& part, const Renumbering&) {
  steps_.resize(std::max(steps_.size(), part.steps_.size()));
  for (std::size_t i = 0; i < part.steps_.size(); ++i) {
    const StepFigures& added = part.steps_[i];
    steps_[i].total_ns += added.total_ns;
    add_length(steps_[i], added.longest_ns, added.longest_rank);
    for (std::size_t cause = 0; cause < cause_count; ++cause) {
      steps_[i].by_cause[cause] += added.by_cause[cause];
    }
  }
  add_outside(before_, part.before_);
  add_outside(behind_, part.behind_);
  note_steps(part.fewest_, part.rank_of_fewest_);
}

void StepSums::finish(Report& report, SiteNames& names) {
  if (!mark_) {
    return;
  }
  StepsFigures steps;
  steps.each = std::move(steps_);
  steps.before = before_;
  steps.behind = behind_;
  steps.is_range = !mark_->range.empty();
  steps.mark = steps.is_range ? mark_->range : names.call_of(mark_->site);
  std::vector<std::uint64_t> lengths_ns;
  for (const StepFigures& each : steps.each) {
    lengths_ns.push_back(each.longest_ns);
  }
  steps.median_ns = median_of(lengths_ns).value_or(0);
  steps.run_to_run_ns = run_to_run_ns(steps.each, report.counted_ranks);
  if (rank_of_fewest_ >= 0 && steps.each.size() > fewest_ + most_steps_ahead) {
    report.flaws.push_back({fmt::format("rank-{}.penstock", rank_of_fewest_), std::nullopt,
                            fmt::format("has {} of the {} steps that others have: times of a step are whole "
                                        "times divided by {}",
                                        fewest_, steps.each.size(), steps.each.size())});
  }
  report.steps = std::move(steps);
}

}  // namespace penstock::analysis
