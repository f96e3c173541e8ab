#include "analysis/report/conclusions/run_to_run.hpp"

#include <cmath>
#include <vector>

#include "analysis/report/step_batches.hpp"
#include "analysis/tables/confidence.hpp"

namespace penstock::analysis {

std::optional<std::uint64_t> run_to_run_ns(const Report& report) {
  if (!report.steps) {
    return std::nullopt;
  }
  const std::vector<StepFigures>& steps = report.steps->each;
  const std::vector<double> means =
      batch_means_of(steps, report.counted_ranks, [](const StepFigures& step) { return step.total_ns; });
  const std::optional<double> of_a_step_ns = margin_of_difference(means, means);
  if (!of_a_step_ns) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::lround(*of_a_step_ns * static_cast<double>(steps.size())));
}

}  // namespace penstock::analysis
