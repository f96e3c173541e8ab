// Looks at a job while it runs or hangs: what `penstock report --now` shows, without any figures. Must not
// know how it is shown.
#pragma once

#include <filesystem>

#include "analysis/naming/skipped_frames.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns a report of which only the job, what its ranks are in (none: all have reached MPI_Finalize), and
/// flaws are filled in. Reads at most some gigabytes, however long the job has run. Errors: TraceError if
/// nothing is usable.
[[nodiscard]] Report look_at_job(const std::filesystem::path& path, const SkipPatterns& skip = {});

}  // namespace penstock::analysis
