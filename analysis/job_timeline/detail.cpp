#include "analysis/job_timeline/detail.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace penstock::analysis::job_timeline {
namespace {

template <typename Visit>
void for_each_list(const RankTracks& tracks, Visit&& visit) {
  visit(tracks.waits);
  for (const exports::Track& track : tracks.tracks) {
    visit(track.slices);
  }
}

/// Counts the pieces that begin in [begin, end). Cost: logarithmic.
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

/// Returns the longest part of the window, from its begin on, in which at most `most` pieces begin.
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

std::size_t beginning_in(const RankTracks& tracks, const std::vector<Interval>& windows) {
  std::size_t count = 0;
  for (const Interval& each : windows) {
    count += beginning_in(tracks, each.begin_ns, each.end_ns);
  }
  return count;
}

/// Widens the windows by `times` their length on either side, and joins those that meet.
std::vector<Interval> widened(std::span<const Window> windows, std::uint64_t times, std::uint64_t run_ns) {
  std::vector<Interval> wide;
  for (const Window& each : windows) {
    const std::uint64_t margin_ns = (each.when.end_ns - each.when.begin_ns) * times;
    wide.push_back({each.when.begin_ns - std::min(each.when.begin_ns, margin_ns),
                    std::max(each.when.end_ns, std::min(run_ns, each.when.end_ns + margin_ns))});
  }
  return IntervalSet::union_of(std::move(wide)).intervals();
}

std::vector<Interval> windows_that_fit(const RankTracks& tracks, std::span<const Window> windows,
                                       std::uint64_t run_ns, std::size_t most) {
  std::vector<Interval> fitting = widened(windows, 0, run_ns);
  if (beginning_in(tracks, fitting) <= most) {
    constexpr std::uint64_t most_times = 1 << 20;
    for (std::uint64_t times = 1; times <= most_times; times *= 2) {
      std::vector<Interval> wide = widened(windows, times, run_ns);
      if (beginning_in(tracks, wide) > most) {
        break;
      }
      fitting = std::move(wide);
    }
    return fitting;
  }
  fitting.clear();
  for (std::size_t i = 0; i < windows.size(); ++i) {
    const Interval window = trimmed(tracks, windows[i].when, most / (windows.size() - i));
    most -= std::min(most, beginning_in(tracks, window.begin_ns, window.end_ns));
    fitting.push_back(window);
  }
  return IntervalSet::union_of(std::move(fitting)).intervals();
}

}  // namespace

bool Detail::holds(std::size_t track, std::uint64_t begin_ns, std::uint64_t end_ns) const noexcept {
  return end_ns - begin_ns >= shortest_ns[track] ||
         std::any_of(windows.begin(), windows.end(),
                     [&](const Interval& each) { return begin_ns < each.end_ns && end_ns > each.begin_ns; });
}

bool Detail::has_all() const noexcept {
  return std::all_of(shortest_ns.begin(), shortest_ns.end(), [](std::uint64_t each) { return each == 0; });
}

std::size_t pieces_in(const RankTracks& tracks) {
  std::size_t count = 0;
  for_each_list(tracks, [&](const auto& pieces) { count += pieces.size(); });
  return count;
}

Detail choose_detail(const RankTracks& tracks, std::span<const Window> windows, std::uint64_t run_ns,
                     std::size_t most_pieces) {
  Detail detail;
  detail.shortest_ns.assign(tracks.tracks.size() + 1, 0);
  if (pieces_in(tracks) <= most_pieces) {
    return detail;
  }
  detail.windows = windows_that_fit(tracks, windows, run_ns, most_pieces / 3 * 2);
  constexpr std::uint64_t none = ~std::uint64_t{0};  // so that it holds the windows alone
  detail.shortest_ns.assign(detail.shortest_ns.size(), none);
  std::vector<std::vector<std::uint64_t>> lengths_ns(detail.shortest_ns.size());
  std::size_t left = most_pieces;
  std::size_t track = 0;
  for_each_list(tracks, [&](const auto& pieces) {
    std::vector<std::uint64_t>& outside = lengths_ns[track];
    for (const auto& each : pieces) {
      if (!detail.holds(track, each.begin_ns, each.end_ns)) {
        outside.push_back(each.end_ns - each.begin_ns);
      }
    }
    left -= std::min(left, pieces.size() - outside.size());
    ++track;
  });
  // Tracks with few pieces leave more room to the others.
  std::vector<std::size_t> order(lengths_ns.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    return std::pair(lengths_ns[one].size(), one) < std::pair(lengths_ns[other].size(), other);
  });
  for (std::size_t i = 0; i < order.size(); ++i) {
    std::vector<std::uint64_t>& outside = lengths_ns[order[i]];
    const std::size_t room = left / (order.size() - i);
    if (outside.size() <= room) {
      detail.shortest_ns[order[i]] = 0;
      left -= outside.size();
      continue;
    }
    const auto first_without = outside.begin() + static_cast<std::ptrdiff_t>(room);
    std::nth_element(outside.begin(), first_without, outside.end(), std::greater<>());
    detail.shortest_ns[order[i]] = *first_without + 1;
    left -= room;
  }
  return detail;
}

}  // namespace penstock::analysis::job_timeline
