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
  const auto begins_behind = [&](std::uint32_t call) { return rank_.calls[call].record.begin_ns > time_ns; };
  // a few steps to either side, then binary search
  constexpr int steps = 8;
  std::uint32_t behind = behind_[lane];
  int step = 0;
  for (; step < steps && behind < last && !begins_behind(behind); ++step) {
    ++behind;
  }
  for (; step < steps && behind > first && begins_behind(behind - 1); ++step) {
    --behind;
  }
  if (step == steps) {
    const auto calls = rank_.calls.begin();
    behind = static_cast<std::uint32_t>(
        std::partition_point(calls + first, calls + last,
                             [&](const Call& call) { return call.record.begin_ns <= time_ns; }) -
        calls);
  }
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
