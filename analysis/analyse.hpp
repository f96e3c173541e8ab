// From a directory of recordings to a report: the order of the steps. Knows what each part needs, not how it
// does it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "analysis/progress.hpp"
#include "analysis/rank_visitor.hpp"
#include "analysis/report.hpp"

namespace penstock::analysis {

struct AnalysisOptions {
  std::optional<std::int32_t> only_rank =
      {};                       ///< the others serve to explain this one; figures are its alone
  bool whole_run = false;       ///< start-up and shutdown are counted too
  std::string step_range = {};  ///< the NVTX range that is a step; empty: what is found
  Progress progress = {};       ///< is told how far it has come; may be empty
};

/// Reads every recording twice: once to join messages and arrivals across ranks, once for the figures. So
/// memory is bounded by one rank's records and the joined messages. Cost: linear in the records. Errors:
/// TraceError when there is nothing that can be used; Report::flaws for parts.
///
/// `visitor`: goes over the counted ranks, too; for it, they are read once more.
[[nodiscard]] Report analyse(const std::filesystem::path& path, const AnalysisOptions& options = {},
                             RankVisitor* visitor = nullptr);

}  // namespace penstock::analysis
