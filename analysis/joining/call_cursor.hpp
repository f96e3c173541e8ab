// Finds the MPI calls that contain many moments, which follow each other nearly in order of time. Returns the
// same as RankTrace::call_at().
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Remembers the last position in each lane. Thread: one at a time. Cost: logarithmic in the distance to the
/// next moment, in calls.
class CallCursor {
 public:
  /// The rank must outlive the cursor, and its calls must not change.
  explicit CallCursor(const RankTrace& rank);
  [[nodiscard]] std::uint32_t call_at(std::uint32_t lane, std::uint64_t time_ns);
  /// Returns true if one call contains both moments, or none either of them.
  [[nodiscard]] bool are_in_one(std::uint32_t lane, std::uint64_t first_ns, std::uint64_t second_ns) {
    const std::uint32_t first = call_at(lane, first_ns);
    return first == call_at(lane, second_ns);
  }

 private:
  [[nodiscard]] std::uint32_t in_lane(std::uint32_t lane, std::uint64_t time_ns);

  const RankTrace& rank_;
  std::vector<std::uint32_t> behind_;  ///< by lane: the first call that began after the last moment
};

}  // namespace penstock::analysis
