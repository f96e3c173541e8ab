#include "analysis/job_timeline/detail.hpp"

#include <algorithm>

namespace penstock::analysis::job_timeline {
namespace {

template <typename Visit>
void for_each_list(const RankTracks& tracks, Visit&& visit) {
  visit(tracks.waits);
  for (const exports::Track& track : tracks.tracks) {
    visit(track.slices);
  }
}

/// Of pieces that begin in [begin, end). Cost: logarithmic.
std::size_t beginning_in(const RankTracks& tracks, std::uint64_t begin_ns, std::uint64_t end_ns) {
  std::size_t count = 0;
  for_each_list(tracks, [&](const auto& pieces) {
    const auto at = [&](std::uint64_t time_ns) {
      return std::lower_bound(pieces.begin(), pieces.end(), time_ns,
                              [](const auto& each, std::uint64_t when) { return each.begin_ns < when; });
    };
    count += static_cast<std::size_t>(at(end_ns) - at(begin_ns));
  });
  return count;
}

/// The longest part of it, from its begin on, in which no more than `most` pieces begin.
Interval trimmed(const RankTracks& tracks, Interval window, std::size_t most) {
  if (beginning_in(tracks, window.begin_ns, window.end_ns) <= most) {
    return window;
  }
  std::uint64_t fits_ns = window.begin_ns;
  std::uint64_t too_late_ns = window.end_ns;
  while (too_late_ns - fits_ns > 1) {
    const std::uint64_t middle_ns = fits_ns + (too_late_ns - fits_ns) / 2;
    (beginning_in(tracks, window.begin_ns, middle_ns) <= most ? fits_ns : too_late_ns) = middle_ns;
  }
  return {window.begin_ns, fits_ns};
}

}  // namespace

bool Detail::holds(std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  return end_ns - begin_ns >= shortest_ns ||
         std::any_of(windows.begin(), windows.end(),
                     [&](const Interval& each) { return begin_ns < each.end_ns && end_ns > each.begin_ns; });
}

std::size_t pieces_in(const RankTracks& tracks) {
  std::size_t count = 0;
  for_each_list(tracks, [&](const auto& pieces) { count += pieces.size(); });
  return count;
}

Detail choose_detail(const RankTracks& tracks, std::span<const Window> windows, std::size_t most_pieces) {
  Detail detail;
  if (pieces_in(tracks) <= most_pieces) {
    return detail;
  }
  std::size_t left = most_pieces / 3 * 2;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Interval window = trimmed(tracks, windows[i].when, left / (windows.size() - i));
    if (window.begin_ns < window.end_ns) {
      left -= std::min(left, beginning_in(tracks, window.begin_ns, window.end_ns));
      detail.windows.push_back(window);
    }
  }
  std::vector<std::uint64_t> lengths_ns;
  detail.shortest_ns = ~std::uint64_t{0};  // for now, so that it holds the windows alone
  for_each_list(tracks, [&](const auto& pieces) {
    for (const auto& each : pieces) {
      if (!detail.holds(each.begin_ns, each.end_ns)) {
        lengths_ns.push_back(each.end_ns - each.begin_ns);
      }
    }
  });
  const std::size_t room = most_pieces / 3 + left;
  if (lengths_ns.size() <= room) {
    return {};
  }
  const auto first_without = lengths_ns.begin() + static_cast<std::ptrdiff_t>(room);
  std::nth_element(lengths_ns.begin(), first_without, lengths_ns.end(), std::greater<>());
  detail.shortest_ns = *first_without + 1;
  return detail;
}

}  // namespace penstock::analysis::job_timeline
