#include "analysis/joining/call_cursor.hpp"

#include <algorithm>

namespace penstock::analysis {

CallCursor::CallCursor(const RankTrace& rank) : rank_(rank) {
  for (const auto& [first, last] : rank.calls_of_lanes()) {
    behind_.push_back(first);
  }
}

std::uint32_t CallCursor::in_lane(std::uint32_t lane, std::uint64_t time_ns) {
  const auto [first, last] = rank_.calls_of_lanes()[lane];
  const auto calls = rank_.calls.begin();
  const auto begins_behind = [&](std::uint32_t call) { return calls[call].record.begin_ns > time_ns; };
  // steps to either side that become longer, then binary search between the last two
  std::uint32_t low = behind_[lane];
  std::uint32_t high = low;
  std::uint32_t step = 1;
  for (; high < last && !begins_behind(high); step *= 2) {
    low = high + 1;
    high += std::min(step, last - high);
  }
  for (; low > first && begins_behind(low - 1); step *= 2) {
    high = low - 1;
    low -= std::min(step, low - first);
  }
  const auto behind = static_cast<std::uint32_t>(
      std::partition_point(calls + low, calls + high,
                           [time_ns](const Call& call) { return call.record.begin_ns <= time_ns; }) -
      calls);
  behind_[lane] = behind;
  if (behind == first || rank_.calls[behind - 1].record.end_ns < time_ns) {
    return RankTrace::no_call;
  }
  return behind - 1;
}

std::uint32_t CallCursor::call_at(std::uint32_t lane, std::uint64_t time_ns) {
  if (lane < behind_.size()) {
    if (const std::uint32_t own = in_lane(lane, time_ns); own != RankTrace::no_call) {
      return own;
    }
  }
  for (std::uint32_t other = 0; other < behind_.size(); ++other) {
    if (other == lane) {
      continue;
    }
    if (const std::uint32_t found = in_lane(other, time_ns); found != RankTrace::no_call) {
      return found;
    }
  }
  return RankTrace::no_call;
}

}  // namespace penstock::analysis
