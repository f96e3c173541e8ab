// One rank while its figures are made: its records, and what several figures need of them. Knows no sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/causes/causes.hpp"
#include "analysis/causes/timeline.hpp"
#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// Kept from rank to rank for its memory: mapping fresh pages would cost as much as all else.
struct RankWindow {
  static constexpr std::uint32_t no_site = ~std::uint32_t{0};

  RankTrace rank;
  std::size_t position = 0;                 ///< in the MessageIndex
  std::vector<std::uint64_t> step_bounds;   ///< of the steps, the only part that is counted; empty: all
  Interval window;                          ///< what is counted
  Timeline timeline;                        ///< of that
  std::vector<std::uint32_t> site_of_call;  ///< of calls that communicate, in the SiteTable; else no_site
  std::optional<CauseFinder> finder;
};

}  // namespace penstock::analysis
