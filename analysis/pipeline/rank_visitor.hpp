// Visits the ranks of a job together with the report, one rank's records at a time, and optionally once more
// when the report is known. Must not know what visitors do.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "analysis/joining/messages.hpp"
#include "analysis/naming/kept_names.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Ranks are visited in order of number, each once a pass. The index is complete from the first pass on and
/// outlives both passes.
class RankVisitor {
 public:
  RankVisitor() = default;
  virtual ~RankVisitor() = default;
  RankVisitor(const RankVisitor&) = delete;
  RankVisitor& operator=(const RankVisitor&) = delete;

  /// Called while the figures are computed. `step_bounds`: from step_bounds().
  virtual void note(const RankTrace& rank, const MessageIndex& index,
                    std::span<const std::uint64_t> step_bounds) = 0;
  /// Called between the passes. `kept` outlives the second one.
  virtual void begin(const Report& report, const MessageIndex& index, KeptNames& kept) = 0;
  /// `position`: of the rank in the index.
  virtual void visit(const RankTrace& rank, std::size_t position, const MessageIndex& index) = 0;
};

}  // namespace penstock::analysis
