// Adds up host code by place: by the innermost NVTX range, else by the MPI calls before and after it. Must
// not know what host code is.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "analysis/figures/figure.hpp"

namespace penstock::analysis {

/// The range that marks the steps names no place. Thread: one at a time. Memory: proportional to the places.
class HostCodePlaces {
 public:
  HostCodePlaces(const std::optional<StepMark>& mark, const StringPool& strings)
      : mark_(mark), strings_(strings) {}
  void add(const RankInput& rank, const IntervalSet& host_code);
  void merge(HostCodePlaces&& part, const Renumbering& numbers) {
    merge_into(by_place_, std::move(part.by_place_), numbers);
  }
  auto members() { return std::tie(by_place_); }
  /// Returns the places, most time first.
  [[nodiscard]] std::vector<HostCodeFigures> finish(SiteNames& names) const;

 private:
  static constexpr std::uint32_t none = ~std::uint32_t{0};
  struct Place {
    std::uint32_t range = none;   ///< string; none: outside of ranges
    std::uint32_t behind = none;  ///< site of the call before it, only if there is no range
    std::uint32_t before = none;  ///< likewise after it
    [[nodiscard]] Place renumbered(const Renumbering& numbers) const {
      return {range == none ? none : numbers.strings[range], behind == none ? none : numbers.sites[behind],
              before == none ? none : numbers.sites[before]};
    }
    auto operator<=>(const Place&) const = default;
  };
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
  /// A piece of time in a range, but not in one within it.
  struct InRange {
    Interval time;
    std::uint32_t range;  ///< string of the rank
  };
  [[nodiscard]] std::vector<InRange> innermost_ranges(const RankTrace& rank) const;

  const std::optional<StepMark>& mark_;
  const StringPool& strings_;
  SumsBy<Place, Sums> by_place_;
};

}  // namespace penstock::analysis
