// Finds the MPI calls in which many moments lie that follow each other, nearly in order of time. Gives what
// RankTrace::call_at() gives.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Remembers, for each lane, where it was last. Thread: one at a time. Cost: by how far away the next moment
/// lies, in calls; logarithmic where that is far.
class CallCursor {
 public:
  /// The rank must outlive it, and its calls must stay.
  explicit CallCursor(const RankTrace& rank);
  [[nodiscard]] std::uint32_t call_at(std::uint32_t lane, std::uint64_t time_ns);

 private:
  [[nodiscard]] std::uint32_t in_lane(std::uint32_t lane, std::uint64_t time_ns);

  const RankTrace& rank_;
  std::vector<std::uint32_t> behind_;  ///< by lane: the first call that began behind the last moment
};

}  // namespace penstock::analysis
