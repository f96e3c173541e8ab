#include "analysis/figures/host_code_places.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace penstock::analysis {
namespace {

constexpr std::uint8_t not_nested = 255;  // a start/end range

}  // namespace

/// Of ranges that do not nest, because several threads have them, the one that began later is the inner one.
std::vector<HostCodePlaces::InRange> HostCodePlaces::innermost_ranges(const RankTrace& rank) const {
  std::vector<trace::Range> ranges;
  IdTable<bool> is_mark;
  for (const trace::Range& each : rank.ranges) {
    const bool* known = is_mark.find(each.name);
    if (known == nullptr) {
      known = &(is_mark[each.name] =
                    mark_ && !mark_->range.empty() && rank.strings.at(each.name) == mark_->range);
    }
    if (!*known && each.depth != not_nested && each.begin_ns < each.end_ns) {
      ranges.push_back(each);
    }
  }
  const auto order = [](const trace::Range& each) {
    return std::tuple(each.begin_ns, ~each.end_ns, each.depth, each.name);
  };
  std::sort(ranges.begin(), ranges.end(),
            [&](const trace::Range& left, const trace::Range& right) { return order(left) < order(right); });
  std::vector<InRange> pieces;
  std::vector<trace::Range> open;
  std::uint64_t until_ns = 0;  // where the pieces end
  const auto go_to = [&](std::uint64_t time_ns) {
    while (!open.empty() && until_ns < time_ns) {
      const std::uint64_t end_ns = std::min(open.back().end_ns, time_ns);
      if (until_ns < end_ns) {
        pieces.push_back({{until_ns, end_ns}, open.back().name});
        until_ns = end_ns;
      }
      if (open.back().end_ns <= time_ns) {
        open.pop_back();
      }
    }
    until_ns = std::max(until_ns, time_ns);
  };
  for (const trace::Range& each : ranges) {
    go_to(each.begin_ns);
    open.push_back(each);
  }
  go_to(~std::uint64_t{0});
  return pieces;
}

void HostCodePlaces::add(const RankInput& rank, const IntervalSet& host_code) {
  const std::vector<HostSegment>& calls = rank.window.timeline.host_segments;
  const std::vector<InRange> ranges = innermost_ranges(rank.trace);
  std::map<Place, Sums> of_rank;
  auto last = of_rank.end();
  const auto note = [&](const Place& place, std::uint64_t time_ns) {
    if (last == of_rank.end() || last->first != place) {
      last = of_rank.try_emplace(place).first;
    }
    ++last->second.times;
    last->second.time_ns += time_ns;
  };
  const auto site_of = [&](const HostSegment& call) { return rank.window.site_of_call[call.call]; };
  auto call = calls.begin();
  auto range = ranges.begin();
  for (const Interval each : host_code.intervals()) {
    while (call != calls.end() && call->begin_ns < each.end_ns) {
      ++call;
    }
    const Place between{none, call == calls.begin() ? none : site_of(*std::prev(call)),
                        call == calls.end() ? none : site_of(*call)};
    std::uint64_t from_ns = each.begin_ns;
    while (range != ranges.end() && range->time.end_ns <= from_ns) {
      ++range;
    }
    for (auto inner = range; inner != ranges.end() && inner->time.begin_ns < each.end_ns; ++inner) {
      const std::uint64_t begin_ns = std::max(inner->time.begin_ns, from_ns);
      const std::uint64_t end_ns = std::min(inner->time.end_ns, each.end_ns);
      if (from_ns < begin_ns) {
        note(between, begin_ns - from_ns);
      }
      note({rank.names.id_of(inner->range), none, none}, end_ns - begin_ns);
      from_ns = end_ns;
    }
    if (from_ns < each.end_ns) {
      note(between, each.end_ns - from_ns);
    }
  }
  for (auto& [place, sums] : of_rank) {
    sums.most_ns = sums.time_ns;
    sums.most_rank = rank.trace.header.world_rank;
    by_place_[place].merge(sums, {});
  }
}

std::vector<HostCodeFigures> HostCodePlaces::finish(SiteNames& names) const {
  std::vector<HostCodeFigures> figures;
  for (const auto& [place, sums] : by_place_) {
    figures.push_back({place.range == none ? "" : strings_.at(place.range),
                       place.behind == none ? "" : names.call_of(place.behind),
                       place.before == none ? "" : names.call_of(place.before), sums.times, sums.time_ns,
                       sums.most_ns, sums.most_rank});
  }
  const auto key = [](const HostCodeFigures& each) { return std::tie(each.range, each.behind, each.before); };
  std::sort(figures.begin(), figures.end(), [&](const HostCodeFigures& left, const HostCodeFigures& right) {
    return left.host_code_ns != right.host_code_ns ? left.host_code_ns > right.host_code_ns
                                                   : key(left) < key(right);
  });
  return figures;
}

}  // namespace penstock::analysis
