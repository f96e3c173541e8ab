// Remembers the longest single waits of a job: where somebody who looks at its timeline should begin. Knows
// no sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/tables/interval_set.hpp"

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
/// at. Each rank's 64 longest are looked at, so that neither the order of ranks nor how they are merged makes
/// a difference. Memory: these. Thread: one at a time.
class LongestWaits {
 public:
  explicit LongestWaits(std::size_t most) : most_(most) {}
  /// Waits of one rank come together.
  void add(const LongWait& wait);
  /// Whether a wait of `counted_ns` can be among the longest of its rank: else add() would forget it.
  [[nodiscard]] bool wants(std::int32_t rank, std::uint64_t counted_ns) const noexcept;
  void merge(const LongestWaits& part, std::span<const std::uint32_t> sites);
  /// By counted_ns, longest first.
  [[nodiscard]] std::vector<LongWait> take();
  /// See archive.hpp.
  template <typename Archive>
  void exchange(Archive& archive) {
    archive(waits_);
  }

 private:
  static constexpr std::size_t most_of_rank = 64;
  std::size_t most_;
  std::vector<LongWait> waits_;  ///< of the last rank as a heap, the shortest first
  std::size_t first_of_rank_ = 0;
};

}  // namespace penstock::analysis
