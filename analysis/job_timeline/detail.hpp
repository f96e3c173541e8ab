// Where a rank's pieces are all there one by one, and how long they are at least elsewhere, so that they are
// not too many. Knows no names and no document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/interval_set.hpp"
#include "analysis/job_timeline/choice.hpp"
#include "analysis/job_timeline/rank_tracks.hpp"

namespace penstock::analysis::job_timeline {

struct Detail {
  std::vector<Interval> windows;  ///< what touches them is there
  std::uint64_t shortest_ns = 0;  ///< elsewhere, what is no shorter; 0: all
  [[nodiscard]] bool holds(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;
};

[[nodiscard]] std::size_t pieces_in(const RankTracks& tracks);

/// All, where there are no more than `most_pieces`; else two thirds of them for the windows, by importance
/// and as much of each from its begin on as there is room for, and the rest for the longest pieces anywhere.
/// Cost: linear.
[[nodiscard]] Detail choose_detail(const RankTracks& tracks, std::span<const Window> windows,
                                   std::size_t most_pieces);

}  // namespace penstock::analysis::job_timeline
