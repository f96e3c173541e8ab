// Estimates by how much two runs of the same program differ, as far as the steps of one tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/report/step_figures.hpp"

namespace penstock::analysis {

/// Returns half of the 95 % confidence interval of the difference between the times of two runs whose steps
/// vary as these, on the average of `ranks`. Runs may differ by more: another node, other clocks. nullopt:
/// there are fewer than two steps. Unit: ns.
[[nodiscard]] std::optional<std::uint64_t> run_to_run_ns(const std::vector<StepFigures>& steps,
                                                         std::uint64_t ranks);

}  // namespace penstock::analysis
