#include "analysis/figures/places.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis {
namespace {

constexpr std::uint8_t not_nested = 255;  // a start/end range

}  // namespace

PlaceFinder::PlaceFinder(const std::optional<StepMark>& mark, const RankInput& rank_input)
    : rank_(rank_input) {
  const RankTrace& rank = rank_input.trace;
  std::vector<trace::Range> ranges;
  IdTable<bool> is_mark;
  for (const trace::Range& each : rank.ranges) {
    const bool* known = is_mark.find(each.name);
    if (known == nullptr) {
      known =
          &(is_mark[each.name] = mark && !mark->range.empty() && rank.strings.at(each.name) == mark->range);
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
  std::vector<trace::Range> open;
  std::uint64_t until_ns = 0;  // where the pieces end
  const auto go_to = [&](std::uint64_t time_ns) {
    while (!open.empty() && until_ns < time_ns) {
      const std::uint64_t end_ns = std::min(open.back().end_ns, time_ns);
      if (until_ns < end_ns) {
        ranges_.push_back({{until_ns, end_ns}, open.back().name});
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
}

PlaceFigures named(const HostPlace& place, const StringPool& strings, SiteNames& names) {
  return {.range = place.range == HostPlace::none ? "" : strings.at(place.range),
          .behind = place.behind == HostPlace::none ? "" : names.call_of(place.behind),
          .before = place.before == HostPlace::none ? "" : names.call_of(place.before)};
}

void PlaceSums::add(const PlaceFinder& finder, std::int32_t rank, const IntervalSet& times) {
  SumTable<HostPlace, HashPlace, Sums> of_rank;
  finder.for_each(times, [&](const HostPlace& place, std::uint64_t time_ns) {
    Sums& sums = of_rank[place];
    ++sums.times;
    sums.time_ns += time_ns;
  });
  for (auto [place, sums] : of_rank.entries()) {
    sums.most_ns = sums.time_ns;
    sums.most_rank = rank;
    by_place_[place].merge(sums, {});
  }
}

std::vector<PlaceFigures> PlaceSums::finish(SiteNames& names) const {
  std::vector<PlaceFigures> figures;
  for (const auto& [place, sums] : by_place_) {
    PlaceFigures& row = figures.emplace_back(named(place, strings_, names));
    row.times = sums.times;
    row.time_ns = sums.time_ns;
    row.most_ns = sums.most_ns;
    row.most_rank = sums.most_rank;
  }
  const auto key = [](const PlaceFigures& each) { return std::tie(each.range, each.behind, each.before); };
  std::sort(figures.begin(), figures.end(), [&](const PlaceFigures& left, const PlaceFigures& right) {
    return left.time_ns != right.time_ns ? left.time_ns > right.time_ns : key(left) < key(right);
  });
  return figures;
}

}  // namespace penstock::analysis
