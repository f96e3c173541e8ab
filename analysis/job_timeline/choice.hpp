// Chooses which ranks and which moments of a large job deserve single pieces. Uses the finished report; must
// not know records.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis::job_timeline {

/// Limits of ranks with their own tracks: jobs up to the first size show all ranks, larger ones some.
inline constexpr std::size_t most_ranks = 64;
inline constexpr std::size_t ranks_of_large_jobs = 32;

/// Returns the chosen ranks with the reason, for people; the reason is empty if all are chosen.
[[nodiscard]] std::map<std::int32_t, std::string> chosen_ranks(const Report& report,
                                                               std::size_t most = most_ranks,
                                                               std::size_t of_large = ranks_of_large_jobs);

/// A part of the run. Unit: ns of the job's axis.
struct Window {
  Interval when;
  std::string why;  ///< for people
};

/// Returns the windows by importance. `steps`: from the first rank's begin of each to the last rank's end;
/// may be empty.
[[nodiscard]] std::vector<Window> chosen_windows(const Report& report, std::span<const Interval> steps,
                                                 std::uint64_t run_ns);

}  // namespace penstock::analysis::job_timeline
