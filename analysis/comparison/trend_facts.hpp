// What runs of a history may differ in besides their times, as texts. Must not know where they are shown.
#pragma once

#include <string>

#include "analysis/comparison/trend.hpp"

namespace penstock::analysis {

/// Returns a fact of a run for people; empty: not known.
using RunFact = std::string (*)(const TrendRun& run);

[[nodiscard]] std::string recording_of(const TrendRun& run);
[[nodiscard]] std::string job_of(const TrendRun& run);
[[nodiscard]] std::string ranks_of(const TrendRun& run);
[[nodiscard]] std::string hosts_of(const TrendRun& run);
[[nodiscard]] std::string gpus_of(const TrendRun& run);
/// Returns "none" of a run without GPUs, beside others that have some.
[[nodiscard]] std::string gpus_or_none_of(const TrendRun& run);
[[nodiscard]] std::string driver_of(const TrendRun& run);
[[nodiscard]] std::string mpi_of(const TrendRun& run);
/// Returns so much of the commit as people write.
[[nodiscard]] std::string commit_of(const TrendRun& run);

/// Returns a fact that all runs share; empty if they do not.
[[nodiscard]] std::string common(const Trend& trend, RunFact fact);
/// Returns true if runs differ in a fact that is known of some.
[[nodiscard]] bool differ(const Trend& trend, RunFact fact);

}  // namespace penstock::analysis
