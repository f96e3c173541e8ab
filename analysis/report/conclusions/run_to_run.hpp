// By how much two runs of the same program differ, as far as the steps of one tell.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns half of the 95 % confidence interval of the difference between the times of two runs whose steps
/// vary as those of this one, on the average rank. Runs may differ by more: another node, other clocks.
/// nullopt: there are fewer than two steps. Unit: ns.
[[nodiscard]] std::optional<std::uint64_t> run_to_run_ns(const Report& report);

}  // namespace penstock::analysis
