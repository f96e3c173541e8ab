// What a figure of the report is: what it is fed, what it shares with the others, and what it offers.
//
//   add(input)              for each kind of input that it needs, in this order, rank by rank:
//                             a call of a counted rank:  its waits (WaitInput), then the call (CallInput)
//                             every rank:                each half of a message (HalfInput), then the
//                                                        rank (RankInput)
//   members()               its sums, named once, for merging (merging.hpp) and for the archive
//   merge(part, numbers)    only if these are not merely added: merges a part of ranks that follow
//   finish(report, names)   puts its part into the report, once, with its call sites named
//
// Sums are whole numbers or lists, so that any division of the ranks among threads and processes gives the
// same report.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/hand_copies.hpp"
#include "analysis/causes/rank_window.hpp"
#include "analysis/causes/steps.hpp"
#include "analysis/joining/call_cursor.hpp"
#include "analysis/joining/job_axis.hpp"
#include "analysis/joining/messages.hpp"
#include "analysis/naming/site_names.hpp"
#include "analysis/recording/name_ids.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/report/report.hpp"
#include "analysis/tables/interval_set.hpp"
#include "analysis/tables/merging.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// What all figures of some ranks share. A figure whose constructor takes it may keep references to what it
/// refers to, which outlives all figures, but not to it.
struct FigureContext {
  const MessageIndex& index;
  const JobAxis& axis;
  StringPool& strings;  ///< may hold more than what is added; so may the sites
  SiteTable& sites;
  const std::optional<StepMark>& mark;
  MeasureChoice choice;
  /// `part`: will be merged into others; `whole`: will be finished.
  enum class Use : std::uint8_t { part, whole } use = Use::part;
};

/// A rank, cut to the part that is counted.
struct RankInput {
  const RankTrace& trace;
  RankWindow& window;            ///< of which the timeline's scratch alone may be changed
  NameIds& names;                ///< the pool's numbers of the rank's texts
  const HostAxis& axis;          ///< of the rank's host
  bool is_counted;               ///< else the rank has no explained calls, and belongs to no sum over ranks
  const IntervalSet& counted;    ///< the exposed time, or that in MPI, by the report's measure
  const IntervalSet& hidden_by;  ///< the kernels, or nothing, by the report's measure
  OutsideFigures before;         ///< the part that is counted
  OutsideFigures behind;
  std::span<const HandCopy> hand_copies = {};  ///< of a counted rank
};

/// A call of a counted rank that is part of its timeline.
struct CallInput {
  const RankInput& rank;
  std::uint32_t number;  ///< in RankTrace::calls
  const trace::MpiCall& call;
  std::uint32_t site;
  std::span<const CauseSpan> spans;  ///< of the whole call
  std::uint64_t moving_ns = 0;       ///< counted time in which data move
  std::uint64_t gpu_wait_ns = 0;     ///< time until a GPU was ready, hidden or not
};

/// A half of a message of any rank. They come in the order of their records.
struct HalfInput {
  const RankInput& rank;
  const Half& half;
  const JoinedHalf& joined;
  CallCursor& calls;  ///< of the rank
};

/// A wait: a part of a call with one cause that is counted at least in part.
struct WaitInput {
  const CallInput& call;
  const CauseSpan& span;
  std::uint64_t begin_ns;  ///< within the part of the rank that is counted
  std::uint64_t end_ns;
  std::uint64_t counted_ns;
  std::uint64_t within_error_ns;

  [[nodiscard]] std::size_t cause() const noexcept { return static_cast<std::size_t>(span.cause); }
};

/// Sorts by counted time, largest first; equal ones keep their order.
template <typename Figures>
void sort_by_counted(std::vector<Figures>& list) {
  std::stable_sort(list.begin(), list.end(), [](const Figures& left, const Figures& right) {
    return left.counted_ns > right.counted_ns;
  });
}

}  // namespace penstock::analysis
