// The second pass over a job: the figures of its ranks, merged in the order of ranks. Knows what each part
// needs, not how it does it.
#pragma once

#include <optional>

#include "analysis/causes/steps.hpp"
#include "analysis/figures/metrics.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/pipeline/joined_job.hpp"
#include "analysis/pipeline/rank_visitor.hpp"
#include "analysis/sharing/progress.hpp"
#include "analysis/sharing/team.hpp"

namespace penstock::analysis {

struct Counting {
  const JoinedJob& joined;
  const JobAxis& axis;
  const std::optional<StepMark>& mark;
  unsigned threads;
  Team* team;            ///< null: alone
  RankVisitor* visitor;  ///< of the first member; may be null

  /// The sums of all counted ranks, into the `whole` of the first member; at others it stays as it is.
  void count(Metrics& whole, Meter& meter) const;
  /// Whether the first member has to see all ranks once more for what cannot be merged: the graph, now that
  /// it is known to be small enough, and what the visitor of a team has not seen.
  [[nodiscard]] bool needs_all_ranks(Metrics& whole) const;
  /// Shows it them. Its index has to be one of all ranks.
  void show_all_ranks(Metrics& whole) const;
};

}  // namespace penstock::analysis
