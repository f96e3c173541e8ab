// Says of a job that did not end, or still runs, what each rank is in and who waits for whom. One look at all
// recordings, beside the report's own passes.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/naming/kept_names.hpp"
#include "analysis/naming/skipped_frames.hpp"
#include "analysis/recording/job.hpp"
#include "analysis/report/unfinished_figures.hpp"

namespace penstock::analysis {

struct LookOptions {
  std::uint64_t most_bytes = ~std::uint64_t{0};  ///< that are read of all files together, about
  SkipPatterns skip = {};                        ///< frames of call paths that are not shown as call sites
  KeptNames* kept = nullptr;                     ///< may be null
};

/// Returns nullopt for a job of which each rank that has a recording reached MPI_Finalize. Ranks may be
/// writing: what changes during the look is not held against anybody. Errors: TraceError if nothing can be
/// read.
[[nodiscard]] std::optional<UnfinishedFigures> look_at_unfinished(const Job& job,
                                                                  const LookOptions& options = {});

}  // namespace penstock::analysis
