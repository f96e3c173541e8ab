// Decides which copies of a rank stage messages by hand, by call sites. Must not know kernels.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/recording/site_table.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

struct HandCopy {
  Interval time;
  std::uint64_t bytes;
  std::uint32_t site;  ///< that posts the message, or of the collective call
};

/// Returns the copies for messages of a time. A copy stands for one message. A site's copies count if they
/// were found for half of its messages on this rank, twice at least: one copy of the same size may be chance.
[[nodiscard]] std::vector<HandCopy> find_hand_copies(const RankTrace& rank, Interval window,
                                                     SiteTable& sites);

}  // namespace penstock::analysis
