// Decides where a rank's pieces are all kept, and how long kept pieces are at least elsewhere, so that their
// number is bounded. Must not know names or the document.
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
  std::vector<Interval> windows;  ///< all pieces that touch them are kept; by time
  std::vector<std::uint64_t>
      shortest_ns;  ///< by track, the waits first: elsewhere, pieces of this length or more are kept; 0: all
  [[nodiscard]] bool holds(std::size_t track, std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept;
  [[nodiscard]] bool has_all() const noexcept;
};

[[nodiscard]] std::size_t pieces_in(const RankTracks& tracks);

/// Keeps all pieces if there are at most `most_pieces`. Otherwise two thirds of that number are for the
/// windows: widened as far as there is room, or, if they do not fit, by importance and each from its begin
/// on. The rest is for the longest pieces anywhere, the same number per track. Cost: linear.
[[nodiscard]] Detail choose_detail(const RankTracks& tracks, std::span<const Window> windows,
                                   std::uint64_t run_ns, std::size_t most_pieces);

}  // namespace penstock::analysis::job_timeline
