// Finds the copies that a program makes by hand of messages in host memory: device → host before a send, host
// → device behind a receive, of as many bytes. Must not know sums.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/recording/rank_trace.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis {

/// A message's half in host memory, and its copy.
struct HandStaged {
  std::uint32_t half;    ///< in RankTrace::halves
  const Interval* copy;  ///< null: none was found
};

/// Holds what was found of one rank: nothing, where no message can have a copy.
struct HandStagedHalves {
  std::vector<HandStaged> halves;  ///< sends in order of their posts, then receives in order of completion
  std::vector<Interval> copies;    ///< what `copy` points into
};

/// Each copy stands for one message at most. `window`: the part of the rank that is looked at.
[[nodiscard]] HandStagedHalves hand_staged_halves(const RankTrace& rank, Interval window);

}  // namespace penstock::analysis
