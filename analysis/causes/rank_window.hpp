// One rank while its figures are computed: its records, and what several figures need of them. Must not know
// sums.
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

/// Reused from rank to rank for its memory: mapping fresh pages would cost as much as all else.
struct RankWindow {
  static constexpr std::uint32_t no_site = ~std::uint32_t{0};

  RankTrace rank;
  KnownTime own_known;                      ///< the rank's own records are complete in it
  std::size_t position = 0;                 ///< in the MessageIndex
  std::vector<std::uint64_t> step_bounds;   ///< of the steps, the only part that is counted; empty: all is
                                            ///< counted
  bool lacks_steps = false;                 ///< steps are counted, and the rank has none: it is left out
  Interval window;                          ///< the part that is counted
  Timeline timeline;                        ///< within the window
  std::vector<std::uint32_t> site_of_call;  ///< of calls that communicate, in the SiteTable; else no_site
  std::optional<CauseFinder> finder;
};

}  // namespace penstock::analysis
