// Keeps the longest single waits of a job: where a user of the timeline should begin. Must not know sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

struct LongWait {
  std::int32_t rank = -1;
  Interval when;  ///< on the job's axis
  std::uint64_t counted_ns = 0;
  Cause cause = Cause::unattributed;
  std::int32_t counterpart = -1;
  std::uint32_t site = 0;
  std::uint64_t other_ranks = 0;  ///< that waited at that moment, too, and no longer
  std::uint64_t within_error_ns = 0;
};

/// Only the longest of overlapping waits is kept: if all ranks wait for one, that is a single event. Each
/// rank's 64 longest are candidates, so that the order of ranks and merges does not matter. Memory: the
/// candidates. Thread: one at a time.
class LongestWaits {
 public:
  explicit LongestWaits(std::size_t most = most_in_report) : most_(most) {}
  void add(const WaitInput& wait) {
    if (wants(wait.call.rank.trace.header.world_rank, wait.counted_ns)) {
      add_wanted(wait);
    }
  }
  /// Adds a wait. All waits of one rank must follow each other.
  void add(const LongWait& wait);
  void merge(LongestWaits&& part, const Renumbering& numbers);
  auto members() { return std::tie(waits_); }
  /// Returns the waits by counted_ns, longest first.
  [[nodiscard]] std::vector<LongWait> take();
  void finish(Report& report, SiteNames& names);

 private:
  static constexpr std::size_t most_in_report = 20;
  static constexpr std::size_t most_of_rank = 64;
  /// Returns true if a wait of `counted_ns` can be among the longest of its rank; add() would drop any other.
  [[nodiscard]] bool wants(std::int32_t rank, std::uint64_t counted_ns) const noexcept {
    return waits_.size() - first_of_rank_ < most_of_rank || waits_.back().rank != rank ||
           counted_ns >= waits_[first_of_rank_].counted_ns;
  }
  void add_wanted(const WaitInput& wait);

  std::size_t most_;
  std::vector<LongWait> waits_;  ///< those of the last rank are a heap, the shortest first
  std::size_t first_of_rank_ = 0;
};

}  // namespace penstock::analysis
