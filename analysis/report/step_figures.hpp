// The part of a report about the steps that the program repeats.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/causes/cause.hpp"
#include "analysis/report/part_figures.hpp"
#include "analysis/report/phase_efficiency.hpp"

namespace penstock::analysis {

/// Time before the first step, or after the last one. Sums over the counted ranks.
struct OutsideFigures {
  std::uint64_t total_ns = 0;
  std::uint64_t counted_ns = 0;
};

/// One step of the program on all counted ranks.
struct StepFigures {
  std::uint64_t total_ns = 0;  ///< sum over ranks
  std::uint64_t longest_ns = 0;
  std::int32_t longest_rank = -1;
  TimeByCause by_cause{};
  std::optional<TimeByPart> parts;  ///< sums to total_ns; none: not known
};

/// Steps are put together into this many batches of neighbours at most: neighbours are alike, batches less
/// so.
inline constexpr std::size_t most_step_batches = 20;
[[nodiscard]] constexpr std::size_t batches_of(std::size_t steps) noexcept {
  return std::min(most_step_batches, steps);
}
/// Returns the first step of a batch; of the batch behind the last one, the number of steps.
[[nodiscard]] constexpr std::size_t first_of_batch(std::size_t steps, std::size_t batch) noexcept {
  return steps == 0 ? 0 : steps * batch / batches_of(steps);
}

/// How efficient the ranks are in steps that follow each other.
struct StepsEfficiency {
  std::size_t first = 0;
  std::size_t steps = 0;
  std::uint64_t total_ns = 0;  ///< sum over the counted ranks
  PhaseEfficiency efficiency;
};

/// The steps that the program repeats.
struct StepsFigures {
  std::string mark;             ///< the mark that begins each step, for people
  bool is_range = false;        ///< true: an NVTX range; false: a call of MPI
  std::uint64_t median_ns = 0;  ///< of the steps' longest_ns
  std::vector<StepFigures> each;
  OutsideFigures before;
  OutsideFigures behind;
  /// Two runs may differ by this, as steps vary: 95 %, on the average rank; none: one step.
  std::optional<std::uint64_t> run_to_run_ns;
  std::vector<StepsEfficiency> efficiency_over_time;  ///< by batch; empty: one step, or nothing computes
};

}  // namespace penstock::analysis
