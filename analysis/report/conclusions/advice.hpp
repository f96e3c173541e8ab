// Advises how to reduce exposed time, in words, with the possible gain in seconds and the evidence. Uses a
// finished report alone: only its figures are evidence.
#pragma once

#include <vector>

#include "analysis/report/advice_figures.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns advice, what saves most first: each is replayed, if the job was, and saves at least half a
/// hundredth of the time; else it is a bound, and at least a hundredth of the counted time. Each is as if
/// nothing else changed; so they do not add up.
[[nodiscard]] std::vector<Advice> advise(const Report& report);

}  // namespace penstock::analysis
