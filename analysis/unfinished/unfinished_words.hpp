// Puts into words why a job does not end. Must not know how it was found out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/report/unfinished_figures.hpp"

namespace penstock::analysis {

/// Returns "rank 3", "ranks 0, 1 and 3", "ranks 0 to 63 and 4 others".
[[nodiscard]] std::string ranks_text(const std::vector<std::int32_t>& ranks);

/// Returns what a rank is in: "in MPI_Recv at exchange (halo.cpp:31) (from rank 2, tag 7)".
[[nodiscard]] std::string whereabouts_text(const UnfinishedRankFigures& rank);

/// Each needs the ranks.
[[nodiscard]] std::string headline_of(const UnfinishedFigures& figures);
[[nodiscard]] std::string words_of_cycle(const UnfinishedFigures& figures, const StandstillFigures& cycle);
[[nodiscard]] std::string words_of_chain(const UnfinishedFigures& figures, const StandstillFigures& chain);
/// Returns what to do about the first standstill.
[[nodiscard]] std::string advice_on(const UnfinishedFigures& figures);

}  // namespace penstock::analysis
