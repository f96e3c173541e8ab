// Where a rank's pieces are all there one by one, and how long they are at least elsewhere, so that they are
// not too many. Knows no names and no document.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "analysis/job_timeline/choice.hpp"
#include "analysis/job_timeline/rank_tracks.hpp"
#include "analysis/tables/interval_set.hpp"

namespace penstock::analysis::job_timeline {

struct Detail {
  std::vector<Interval> windows;  ///< what touches them is there; by time
  std::vector<std::uint64_t>
      shortest_ns;  ///< by track, the waits first: elsewhere, what is no shorter; 0: all
  [[nodiscard]] bool holds(std::size_t track, std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;
  [[nodiscard]] bool has_all() const noexcept;
};

[[nodiscard]] std::size_t pieces_in(const RankTracks& tracks);

/// All, where there are no more than `most_pieces`. Else two thirds of them are for the windows: with as much
/// beside them as there is room for, or by importance and as much of each from its begin on. The rest is for
/// the longest pieces anywhere, as many of each track. Cost: linear.
[[nodiscard]] Detail choose_detail(const RankTracks& tracks, std::span<const Window> windows,
                                   std::uint64_t run_ns, std::size_t most_pieces);

}  // namespace penstock::analysis::job_timeline
