// The option --fail-if of the commands that judge a recording. Must not know where reports come from.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/comparison/baseline.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"

namespace penstock::cli {

/// The exit code besides 0, cannot_be_told and those of errors.
inline constexpr int condition_holds = 3;

/// `conditions` must live as long as the application.
void add_fail_if_option(CLI::App& command, std::vector<analysis::FailCondition>& conditions,
                        const std::string& description);

/// Prints on stderr which conditions hold, and returns the exit code. A condition that cannot be decided does
/// not pass; that jitter would hide a change of the limit is told, and passes. `baseline`: with what a change
/// is compared; none: there is nothing to compare with.
[[nodiscard]] int check(const std::vector<analysis::FailCondition>& conditions,
                        const analysis::Report& report, const std::optional<analysis::Baseline>& baseline,
                        std::string_view command);

}  // namespace penstock::cli
