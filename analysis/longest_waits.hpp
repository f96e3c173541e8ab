// Remembers the longest single waits of a job: where somebody who looks at its timeline should begin. Knows
// no sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/causes.hpp"
#include "analysis/interval_set.hpp"

namespace penstock::analysis {

struct LongWait {
  std::int32_t rank = -1;
  Interval when;  ///< of the job's axis
  std::uint64_t counted_ns = 0;
  Cause cause = Cause::unattributed;
  std::int32_t counterpart = -1;
  std::uint32_t site = 0;
  std::uint64_t other_ranks = 0;  ///< that waited at that moment, too, and no longer
  std::uint64_t within_error_ns = 0;
};

/// Of waits that overlap, only the longest is kept: when all ranks wait for one, that is one thing to look
/// at. Memory: `most` of them. Thread: one at a time.
class LongestWaits {
 public:
  explicit LongestWaits(std::size_t most) : most_(most) {}
  void add(const LongWait& wait);
  /// By counted_ns, longest first.
  [[nodiscard]] std::vector<LongWait> take() { return std::move(waits_); }

 private:
  std::size_t most_;
  std::vector<LongWait> waits_;  ///< sorted likewise
};

}  // namespace penstock::analysis
