#include "analysis/joining/window_index.hpp"

#include <algorithm>

#include "analysis/tables/release.hpp"

namespace penstock::analysis {

void WindowIndex::add(const RankFacts& rank, std::uint32_t host) {
  for (const WindowCall& each : rank.window_calls) {
    if (each.peer >= 0) {
      waits_.push_back({each, rank.rank, host});
      continue;
    }
    Releases& own = releases_[{each.window, rank.rank, each.act}];
    own.host = host;
    own.calls.push_back(each);
  }
}

void WindowIndex::join(const ClockAlignment& clocks) {
  for (auto& [kind, own] : releases_) {  // of several threads, they are by thread
    std::stable_sort(own.calls.begin(), own.calls.end(), [](const WindowCall& left, const WindowCall& right) {
      return left.begin_ns < right.begin_ns;
    });
  }
  for (const Wait& wait : waits_) {
    const std::optional<Found> found =
        wait.call.peer == wait.rank ? std::nullopt : find(wait.call, wait.host, clocks);
    if (found) {
      awaited_[wait.call.peer].push_back(
          {.release = {found->call->begin_ns, found->call->end_ns},
           .waits_from_ns = clocks.convert(wait.call.begin_ns, wait.host, found->host),
           .call_site = found->call->call_site,
           .function = found->call->function,
           .waiting_host = wait.host});
    }
  }
  release(waits_);
}

/// Finds the peer's last fitting call that began before the wait ended: a wait ends some microseconds behind
/// what it waits for, and earlier calls may have let only others go on. One that ended before the wait began
/// cannot have been waited for.
std::optional<WindowIndex::Found> WindowIndex::find(const WindowCall& wait, std::uint32_t host,
                                                    const ClockAlignment& clocks) const {
  const auto found = releases_.find({wait.window, wait.peer, wait.act});
  if (found == releases_.end() || !clocks.can_convert(host, found->second.host)) {
    return std::nullopt;
  }
  const Releases& theirs = found->second;
  const auto behind = std::upper_bound(
      theirs.calls.begin(), theirs.calls.end(), clocks.convert(wait.end_ns, host, theirs.host),
      [](std::uint64_t time_ns, const WindowCall& each) { return time_ns < each.begin_ns; });
  if (behind == theirs.calls.begin() ||
      (behind - 1)->end_ns < clocks.convert(wait.begin_ns, host, theirs.host)) {
    return std::nullopt;
  }
  return Found{&*(behind - 1), theirs.host};
}

std::optional<WindowRelease> WindowIndex::release_of(const WindowCall& wait, std::uint32_t host,
                                                     const ClockAlignment& clocks) const {
  const std::optional<Found> found = find(wait, host, clocks);
  if (!found) {
    return std::nullopt;
  }
  return WindowRelease{clocks.convert(found->call->begin_ns, found->host, host),
                       clocks.convert(found->call->end_ns, found->host, host)};
}

std::span<const AwaitedRelease> WindowIndex::awaited_releases(std::int32_t rank) const {
  const auto found = awaited_.find(rank);
  return found == awaited_.end() ? std::span<const AwaitedRelease>() : std::span(found->second);
}

}  // namespace penstock::analysis
