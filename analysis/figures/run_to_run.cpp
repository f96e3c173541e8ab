#include "analysis/figures/run_to_run.hpp"

#include <cmath>

#include "analysis/report/step_batches.hpp"
#include "analysis/tables/confidence.hpp"

namespace penstock::analysis {

std::optional<std::uint64_t> run_to_run_ns(const std::vector<StepFigures>& steps, std::uint64_t ranks) {
  const std::vector<double> means =
      batch_means_of(steps, ranks, [](const StepFigures& step) { return step.total_ns; });
  const std::optional<double> of_a_step_ns = margin_of_difference(means, means);
  if (!of_a_step_ns) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(std::lround(*of_a_step_ns * static_cast<double>(steps.size())));
}

}  // namespace penstock::analysis
