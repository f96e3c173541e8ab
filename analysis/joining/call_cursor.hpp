// Finds the MPI calls that contain many moments, which follow each other nearly in order of time. Returns the
// same as RankTrace::call_at().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Remembers the last position in each lane. Thread: one at a time. Cost: linear in the distance to the next
/// moment, in calls; logarithmic if it is far.
class CallCursor {
 public:
  /// The rank must outlive the cursor, and its calls must not change.
  explicit CallCursor(const RankTrace& rank);
  [[nodiscard]] std::uint32_t call_at(std::uint32_t lane, std::uint64_t time_ns);

 private:
  [[nodiscard]] std::uint32_t in_lane(std::uint32_t lane, std::uint64_t time_ns);

  const RankTrace& rank_;
  std::vector<std::uint32_t> behind_;  ///< by lane: the first call that began after the last moment
};

}  // namespace penstock::analysis
