// Joins the calls that wait for a member of a window with that member's call that let them go on. Filled rank
// by rank, joined once the hosts' clocks are aligned, then queried. Must not know messages.
#pragma once

#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "analysis/joining/clock_alignment.hpp"
#include "analysis/joining/rank_facts.hpp"

namespace penstock::analysis {

/// A member's call that lets others go on. Unit: ns of the clock that was asked for.
struct WindowRelease {
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

/// Such a call of a rank, and one of those that waited for it. Unit: ns of the rank's host's clock.
struct AwaitedRelease {
  WindowRelease release;
  std::uint64_t waits_from_ns = 0;  ///< the other member's call began
  std::uint64_t call_site = 0;      ///< of the release, as in the rank's trace; likewise the next
  std::uint32_t function = 0;
  std::uint32_t waiting_host = 0;
};

/// Thread: one at a time until join() returns, then any number. Memory: 48 bytes a wait and a release.
class WindowIndex {
 public:
  void add(const RankFacts& rank, std::uint32_t host);
  void join(const ClockAlignment& clocks);
  /// Returns the call of its peer that ended a wait, in the clock of `host`, that of the rank that waited.
  /// Returns nullopt if it is not recorded.
  [[nodiscard]] std::optional<WindowRelease> release_of(const WindowCall& wait, std::uint32_t host,
                                                        const ClockAlignment& clocks) const;
  /// Returns the calls of a rank that others waited for, one for each that did.
  [[nodiscard]] std::span<const AwaitedRelease> awaited_releases(std::int32_t rank) const;

 private:
  /// Calls of one kind, of one rank, on one window.
  struct Kind {
    std::uint64_t window;
    std::int32_t rank;
    WindowAct act;
    auto operator<=>(const Kind&) const = default;
  };
  struct Releases {
    std::vector<WindowCall> calls;  ///< after join(): by begin
    std::uint32_t host = 0;
  };
  struct Wait {
    WindowCall call;
    std::int32_t rank;
    std::uint32_t host;
  };
  struct Found {
    const WindowCall* call;
    std::uint32_t host;
  };
  [[nodiscard]] std::optional<Found> find(const WindowCall& wait, std::uint32_t host,
                                          const ClockAlignment& clocks) const;

  std::map<Kind, Releases> releases_;
  std::vector<Wait> waits_;  ///< until join()
  std::unordered_map<std::int32_t, std::vector<AwaitedRelease>> awaited_;
};

}  // namespace penstock::analysis
