// From a directory of recordings to a report: the order of the steps. Knows what each part needs, not how it
// does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/pipeline/rank_visitor.hpp"
#include "analysis/recording/flaw.hpp"
#include "analysis/report/report.hpp"
#include "analysis/sharing/progress.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

struct AnalysisOptions {
  std::optional<std::int32_t> only_rank =
      {};                       ///< the others serve to explain this one; figures are its alone
  bool whole_run = false;       ///< start-up and shutdown are counted too
  std::string step_range = {};  ///< the NVTX range that is a step; empty: what is found
  unsigned threads = 1;         ///< so many do the work, 0: one a core; the report is the same
  Progress progress = {};       ///< is told how far it has come; may be empty
};

/// Reads every recording twice: once to join messages and arrivals across ranks, once for the figures. So
/// memory is bounded by one rank's records for each thread and the joined messages. Cost: linear in the
/// records. Errors: TraceError when there is nothing that can be used; Report::flaws for parts.
///
/// `visitor`: goes over the counted ranks, too; for it, they are read once more.
[[nodiscard]] Report analyse(const std::filesystem::path& path, const AnalysisOptions& options = {},
                             RankVisitor* visitor = nullptr);

/// What all members of a team found alike.
class CommonTraceError : public TraceError {
 public:
  using TraceError::TraceError;
};

/// The same by the members of a team, all of which call it: each reads its share of the ranks, and holds what
/// joins them with all. The first one has the report, `visitor` is its alone; elsewhere none. For a visitor,
/// or if the job is small enough to be replayed, the first one holds what joins all ranks in the end. Errors:
/// CommonTraceError when all throw it, and any other when one member fails: the others wait for it in vain.
[[nodiscard]] std::optional<Report> analyse_together(const std::filesystem::path& path,
                                                     const AnalysisOptions& options, Team& team,
                                                     RankVisitor* visitor = nullptr);

}  // namespace penstock::analysis
