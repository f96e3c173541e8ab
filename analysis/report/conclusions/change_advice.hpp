// Advice on changes that were replayed: what each saves, and in words those that no list of the report tells.
// Must not know the replay.
#pragma once

#include <vector>

#include "analysis/report/advice_figures.hpp"
#include "analysis/report/replay_figures.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns advice with the figures of its change in place of its bound.
[[nodiscard]] Advice replayed(const Report& report, const ChangeFigures& change, Advice advice);
/// Returns advice on the changes that are not shown by a row of the report.
[[nodiscard]] std::vector<Advice> advice_on_changes(const Report& report);
/// Returns true if another change of the same rank says why it is late, and saves most of what this one does.
[[nodiscard]] bool is_explained(const ReplayFigures& replay, const ChangeFigures& late_rank);

}  // namespace penstock::analysis
