// Finds collectives that ranks of one communicator have come to in a different order: at the same place in
// the order, one rank is in another function. Must not know who waits for whom.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/unfinished/rank_state.hpp"

namespace penstock::analysis {

struct MismatchedCollective {
  struct Group {
    std::uint32_t function;  ///< in the pool of texts
    std::uint32_t site;      ///< where its first rank calls it
    std::vector<std::int32_t> ranks;
  };
  std::uint32_t ordinal = 0;
  std::vector<Group> groups;  ///< the largest first
};

/// Looks at the collectives that ranks are in; of each communicator at the first one that differs.
[[nodiscard]] std::vector<MismatchedCollective> find_mismatched_collectives(
    const std::vector<RankState>& ranks);

}  // namespace penstock::analysis
