// One axis for the times of all ranks. Ranks of a host share its monotonic clock; hosts are put beside each
// other by their system clocks, so between hosts times are as good as those are kept (NTP: about a
// millisecond). Knows no records.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis::exports {

/// From the clock of a rank's host to the axis. Never turns the order of two times round.
class RankClock {
 public:
  explicit RankClock(std::int64_t shift_ns) : shift_ns_(shift_ns) {}
  /// 0 … the largest std::int64_t, which is what consumers take.
  [[nodiscard]] std::uint64_t operator()(std::uint64_t host_ns) const noexcept;

 private:
  std::int64_t shift_ns_;
};

/// Unit: ns. The axis is the monotonic clock of the host that was added first.
class JobClock {
 public:
  /// `host`: any number that is the same for all ranks of a host.
  void add(std::uint32_t host, const trace::FileHeader& header);
  [[nodiscard]] RankClock of(std::uint32_t host) const;
  /// When the first rank came out of MPI_Init.
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }
  /// What has to be added to a time of the axis to have ns since 1970.
  [[nodiscard]] std::uint64_t realtime_offset_ns() const noexcept { return realtime_offset_ns_; }
  [[nodiscard]] std::size_t host_count() const noexcept { return shifts_ns_.size(); }

 private:
  std::uint64_t realtime_offset_ns_ = 0;
  std::uint64_t begin_ns_ = 0;
  bool is_empty_ = true;
  std::unordered_map<std::uint32_t, std::int64_t> shifts_ns_;
};

}  // namespace penstock::analysis::exports
