// Places time at which no call of MPI tells where a host is: by the innermost NVTX range, else by the MPI
// calls before and after it. Must not know what the host does.
#pragma once

#include <algorithm>
#include <compare>
#include <cstdint>
#include <iterator>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"
#include "analysis/tables/sum_table.hpp"

namespace penstock::analysis {

struct HostPlace {
  static constexpr std::uint32_t none = ~std::uint32_t{0};

  std::uint32_t range = none;   ///< string; none: outside of ranges
  std::uint32_t behind = none;  ///< site of the call before it, only if there is no range
  std::uint32_t before = none;  ///< likewise after it
  [[nodiscard]] HostPlace renumbered(const Renumbering& numbers) const {
    return {range == none ? none : numbers.strings[range], behind == none ? none : numbers.sites[behind],
            before == none ? none : numbers.sites[before]};
  }
  auto operator<=>(const HostPlace&) const = default;
};
struct HashPlace {
  std::uint64_t operator()(const HostPlace& place) const noexcept {
    return mixed(mixed(place.range, place.behind), place.before);
  }
};
using HostPlaces = SumsBy<HostPlace, std::uint64_t>;  ///< ns

/// Returns the place alone, with names for people.
[[nodiscard]] PlaceFigures named(const HostPlace& place, const StringPool& strings, SiteNames& names);

/// The places of one rank, which must outlive the object. The range that marks the steps names no place. Of
/// ranges that do not nest, because several threads have them, the one that began later is the inner one.
class PlaceFinder {
 public:
  PlaceFinder(const std::optional<StepMark>& mark, const RankInput& rank);
  /// Calls use(place, ns) for each piece of `times`, which must lie outside of communicating calls.
  template <typename Use>
  void for_each(const IntervalSet& times, Use use) const {
    const std::vector<HostSegment>& calls = rank_.window.timeline.host_segments;
    const auto site_of = [&](const HostSegment& call) { return rank_.window.site_of_call[call.call]; };
    auto call = calls.begin();
    auto range = ranges_.begin();
    for (const Interval each : times.intervals()) {
      while (call != calls.end() && call->begin_ns < each.end_ns) {
        ++call;
      }
      const HostPlace between{HostPlace::none,
                              call == calls.begin() ? HostPlace::none : site_of(*std::prev(call)),
                              call == calls.end() ? HostPlace::none : site_of(*call)};
      std::uint64_t from_ns = each.begin_ns;
      while (range != ranges_.end() && range->time.end_ns <= from_ns) {
        ++range;
      }
      for (auto inner = range; inner != ranges_.end() && inner->time.begin_ns < each.end_ns; ++inner) {
        const std::uint64_t begin_ns = std::max(inner->time.begin_ns, from_ns);
        const std::uint64_t end_ns = std::min(inner->time.end_ns, each.end_ns);
        if (from_ns < begin_ns) {
          use(between, begin_ns - from_ns);
        }
        use(HostPlace{rank_.names.id_of(inner->range), HostPlace::none, HostPlace::none}, end_ns - begin_ns);
        from_ns = end_ns;
      }
      if (from_ns < each.end_ns) {
        use(between, each.end_ns - from_ns);
      }
    }
  }

 private:
  /// A piece of time in a range, but not in one within it.
  struct InRange {
    Interval time;
    std::uint32_t range;  ///< string of the rank
  };

  const RankInput& rank_;
  std::vector<InRange> ranges_;
};

/// Adds up a part of the time by place. Thread: one at a time. Memory: proportional to the places.
class PlaceSums {
 public:
  explicit PlaceSums(const StringPool& strings) : strings_(strings) {}
  /// Adds times of the rank whose places `finder` knows.
  void add(const PlaceFinder& finder, std::int32_t rank, const IntervalSet& times);
  void merge(PlaceSums&& part, const Renumbering& numbers) {
    merge_into(by_place_, std::move(part.by_place_), numbers);
  }
  auto members() { return std::tie(by_place_); }
  /// Returns the places, most time first.
  [[nodiscard]] std::vector<PlaceFigures> finish(SiteNames& names) const;

 private:
  struct Sums {
    std::uint64_t times = 0;
    std::uint64_t time_ns = 0;
    std::uint64_t most_ns = 0;  ///< of a rank
    std::int32_t most_rank = -1;
    void merge(const Sums& part, const Renumbering&) {
      times += part.times;
      time_ns += part.time_ns;
      if (part.most_ns > most_ns) {  // of equals the first rank
        most_ns = part.most_ns;
        most_rank = part.most_rank;
      }
    }
  };

  const StringPool& strings_;
  SumsBy<HostPlace, Sums> by_place_;
};

}  // namespace penstock::analysis
