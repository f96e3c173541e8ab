// One time axis for all ranks. Ranks of a host share its monotonic clock. Hosts are aligned by their system
// clocks, so times between hosts are as accurate as those (NTP: about a millisecond). Must not know records.
#pragma once

#include <cstdint>
#include <unordered_map>

#include "interpose/record/trace_format.hpp"

namespace penstock::analysis::exports {

/// Maps the clock of a rank's host to the axis. Never reverses the order of two times.
class RankClock {
 public:
  explicit RankClock(std::int64_t shift_ns) : shift_ns_(shift_ns) {}
  /// Returns 0 … the largest std::int64_t, which is the range that consumers accept.
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
  /// Returns when the first rank returned from MPI_Init.
  [[nodiscard]] std::uint64_t begin_ns() const noexcept { return begin_ns_; }
  /// Returns what to add to a time of the axis to get ns since 1970.
  [[nodiscard]] std::uint64_t realtime_offset_ns() const noexcept { return realtime_offset_ns_; }
  [[nodiscard]] std::size_t host_count() const noexcept { return shifts_ns_.size(); }

 private:
  std::uint64_t realtime_offset_ns_ = 0;
  std::uint64_t begin_ns_ = 0;
  bool is_empty_ = true;
  std::unordered_map<std::uint32_t, std::int64_t> shifts_ns_;
};

}  // namespace penstock::analysis::exports
