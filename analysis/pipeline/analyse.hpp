// Makes a report from a directory of recordings, as a sequence of steps. Must not know how the parts work,
// only what they need.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "analysis/naming/skipped_frames.hpp"
#include "analysis/pipeline/rank_visitor.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/report/report.hpp"
#include "analysis/sharing/progress.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

struct AnalysisOptions {
  std::optional<std::int32_t> only_rank = {};  ///< count this rank only; the others serve to explain it
  bool whole_run = false;                      ///< count start-up and shutdown, too
  std::string step_range = {};             ///< the NVTX range that is a step; empty: steps are searched for
  SkipPatterns skip = {};                  ///< frames of call paths that are not shown as call sites
  std::vector<KernelFactor> what_if = {};  ///< each is a line of the report's what-if
  unsigned threads = 1;                    ///< number of threads, 0: one per core; the report is the same
  Progress progress = {};                  ///< receives the progress; may be empty
};

/// Reads every recording twice: once to join messages and arrivals across ranks, once for the figures. So
/// memory is bounded by one rank's records for each thread and the joined messages. Cost: linear in the
/// records. Errors: TraceError if nothing is usable; Report::flaws for damaged parts.
///
/// `visitor`: visits the counted ranks, too; they are read once more for it.
[[nodiscard]] Report analyse(const std::filesystem::path& path, const AnalysisOptions& options = {},
                             RankVisitor* visitor = nullptr);

/// An error that all members of a team found alike.
class CommonTraceError : public TraceError {
 public:
  using TraceError::TraceError;
};

/// Does the same on all members of a team, each of which calls it, reads its share of the ranks, and holds
/// what joins them with all. The first member returns the report and uses `visitor`; others return nullopt.
/// For a visitor, or if the job is small enough to be replayed, the first member finally holds what joins all
/// ranks. Errors: CommonTraceError if all members throw it; any other if one fails, for which the others wait
/// in vain.
[[nodiscard]] std::optional<Report> analyse_together(const std::filesystem::path& path,
                                                     const AnalysisOptions& options, Team& team,
                                                     RankVisitor* visitor = nullptr);

}  // namespace penstock::analysis
