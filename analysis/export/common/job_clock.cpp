#include "analysis/export/common/job_clock.hpp"

#include <algorithm>
#include <limits>

namespace penstock::analysis::exports {
namespace {

constexpr std::uint64_t latest_ns = std::numeric_limits<std::int64_t>::max();

/// Returns 0 for an implausible shift: hosts started more than ten years apart mean a damaged header.
std::int64_t plausible(std::int64_t shift_ns) {
  constexpr std::int64_t ten_years_ns = 10ll * 365 * 24 * 3600 * 1'000'000'000;
  return shift_ns > -ten_years_ns && shift_ns < ten_years_ns ? shift_ns : 0;
}

}  // namespace

std::uint64_t RankClock::operator()(std::uint64_t host_ns) const noexcept {
  const auto time_ns = static_cast<std::int64_t>(std::min(host_ns, latest_ns));
  std::int64_t moved_ns = 0;
  if (__builtin_add_overflow(time_ns, shift_ns_, &moved_ns)) return latest_ns;
  return static_cast<std::uint64_t>(std::max<std::int64_t>(moved_ns, 0));
}

void JobClock::add(std::uint32_t host, const trace::FileHeader& header) {
  if (is_empty_) realtime_offset_ns_ = header.realtime_offset_ns;
  // differences may have either sign: unsigned arithmetic wraps, so the conversion is correct
  const auto shift_ns = static_cast<std::int64_t>(header.realtime_offset_ns - realtime_offset_ns_);
  shifts_ns_.try_emplace(host, plausible(shift_ns));
  const std::uint64_t rank_begin_ns = of(host)(header.begin_ns);
  begin_ns_ = is_empty_ ? rank_begin_ns : std::min(begin_ns_, rank_begin_ns);
  is_empty_ = false;
}

RankClock JobClock::of(std::uint32_t host) const {
  const auto found = shifts_ns_.find(host);
  return RankClock(found == shifts_ns_.end() ? 0 : found->second);
}

}  // namespace penstock::analysis::exports
