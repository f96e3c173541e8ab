// The second pass over a job: computes its ranks' figures and merges them in rank order. Must not know how
// the parts work, only what they need.
#pragma once

#include <optional>

#include "analysis/causes/steps.hpp"
#include "analysis/figures/figure.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/pipeline/joined_job.hpp"
#include "analysis/pipeline/metrics.hpp"
#include "analysis/pipeline/rank_visitor.hpp"
#include "analysis/sharing/progress.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

struct Counting {
  const JoinedJob& joined;
  const JobAxis& axis;
  const std::optional<StepMark>& mark;
  unsigned threads;
  Team* team;            ///< null: no team
  RankVisitor* visitor;  ///< of the first member; may be null
  const SkipPatterns& skip;
  KeptNames& kept;

  /// Returns what figures of some ranks, or of all, share.
  [[nodiscard]] FigureContext context(StringPool& strings, SiteTable& sites, FigureContext::Use use) const {
    return {joined.index, axis, strings, sites, mark, joined.vote.choice(), use};
  }
  /// Adds up all counted ranks into the first member's `whole`; on other members it stays as it is.
  void count(Metrics& whole, Meter& meter) const;
  /// Returns true if the first member must read all ranks once more for what cannot be merged: the graph, now
  /// known to be small enough, and ranks that the visitor of a team has not seen.
  [[nodiscard]] bool needs_all_ranks(Metrics& whole) const;
  /// Reads all ranks for the graph and the visitor. The index must contain all ranks.
  void show_all_ranks(Metrics& whole) const;
};

}  // namespace penstock::analysis
