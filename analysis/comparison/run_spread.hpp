// Estimates by how much runs of a program differ without a change, from the other runs of its history. Uses
// finished comparisons alone. Must not know how a history is printed.
#pragma once

#include <vector>

#include "analysis/comparison/diff.hpp"

namespace penstock::analysis {

/// Widens the margins of a history's changes to what runs differ by anyway, and judges them again. Where the
/// variation within runs is not known, as they have no steps, that of runs decides alone.
///
/// `changes`: each run against the one before it. A change is held against the differences between the other
/// neighbours in the history that ran the same program on as many ranks, with the same GPUs and MPI, but for
/// those that are changes themselves: their median times the quantile by which chance alone exceeds it once
/// in twenty times (Student's t for so many, over 0.6745, as the median lies at that share of the standard
/// deviation). Nothing is known from fewer than two, thus from fewer than three runs before the newest one.
/// Later runs count, too: otherwise a history would mark its first runs for ever by what it knew of them
/// then.
void widen_by_runs(std::vector<Diff>& changes);

/// Widens a row to what `like`, a row of the same figure, knows of runs.
void widen_as(DiffRow& row, const DiffRow& like);

}  // namespace penstock::analysis
