#include "analysis/changes/host_gaps.hpp"

#include <algorithm>
#include <utility>

namespace penstock::analysis {
namespace {

/// Returns when the rank's GPUs compute or copy, or have been given a kernel that has not begun: host code
/// may run then, but it is not what the GPU waits for.
IntervalSet busy_or_launched(const GraphRank& rank) {
  std::vector<Interval> times = rank.busy.intervals();
  for (const Interval& each : rank.timeline.launched.intervals()) {
    times.push_back({rank.graph.reference_ns(rank.trace, each.begin_ns),
                     rank.graph.reference_ns(rank.trace, each.end_ns)});
  }
  return IntervalSet::union_of(std::move(times));
}

/// Finds the innermost range around moments that follow each other.
class RangeCursor {
 public:
  explicit RangeCursor(const GraphRank& rank) : rank_(rank) {
    for (const trace::Range& each : rank.trace.ranges) {
      ranges_.push_back({rank.graph.reference_ns(rank.trace, each.begin_ns),
                         rank.graph.reference_ns(rank.trace, each.end_ns), each.name});
    }
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& left, const Range& right) {
      return left.begin_ns != right.begin_ns ? left.begin_ns < right.begin_ns : left.end_ns > right.end_ns;
    });
  }
  /// Returns the name's number; `none` if there is no range.
  std::uint32_t at(std::uint64_t time_ns, std::uint32_t none) {
    for (; next_ < ranges_.size() && ranges_[next_].begin_ns <= time_ns; ++next_) {
      open_.push_back(next_);
    }
    std::erase_if(open_, [&](std::size_t each) { return ranges_[each].end_ns <= time_ns; });
    return open_.empty() ? none : rank_.names.id_of(rank_.trace.strings.at(ranges_[open_.back()].name));
  }

 private:
  struct Range {
    std::uint64_t begin_ns;
    std::uint64_t end_ns;
    std::uint32_t name;
  };
  const GraphRank& rank_;
  std::vector<Range> ranges_;
  std::vector<std::size_t> open_;
  std::size_t next_ = 0;
};

}  // namespace

void HostGaps::add(const GraphRank& rank) {
  const IntervalSet busy_times = busy_or_launched(rank);
  const std::vector<Interval>& busy = busy_times.intervals();
  RangeCursor ranges(rank);
  std::uint64_t last_end_ns = rank.graph.reference_ns(rank.trace, rank.window.begin_ns);
  std::uint32_t before = ReplayGraph::no_site;
  std::vector<std::pair<Interval, std::uint32_t>> pieces;  // since the last call of MPI, and their ranges
  for (const RankLayout::HostItem& item : rank.layout.host) {
    const std::uint64_t begin_ns = rank.graph.observed_ns(item.begin);
    if (begin_ns > last_end_ns) {
      const auto first = std::lower_bound(
          busy.begin(), busy.end(), last_end_ns,
          [](const Interval& each, std::uint64_t time_ns) { return each.end_ns <= time_ns; });
      std::uint64_t idle_from_ns = last_end_ns;
      const auto take = [&](std::uint64_t until_ns) {
        if (until_ns > idle_from_ns && until_ns - idle_from_ns >= shortest_host_code_ns) {
          pieces.emplace_back(Interval{idle_from_ns, until_ns},
                              ranges.at(idle_from_ns + (until_ns - idle_from_ns) / 2, no_range));
        }
      };
      for (auto each = first; each != busy.end() && each->begin_ns < begin_ns; ++each) {
        take(each->begin_ns);
        idle_from_ns = each->end_ns;
      }
      take(begin_ns);
    }
    last_end_ns = std::max(last_end_ns, rank.graph.observed_ns(item.end));
    const bool is_last = &item == &rank.layout.host.back();
    if (item.call == RankTrace::no_call && !is_last) {
      continue;
    }
    const std::uint32_t site = is_last ? ReplayGraph::no_site : rank.site_of_call(item.call);
    std::vector<Place> counted;
    for (const auto& [piece, range] : pieces) {
      const Place place{before, site, range};
      OfRank& own = places_[place][rank.position];
      own.pieces.push_back(piece);
      own.total_ns += piece.end_ns - piece.begin_ns;
      if (std::find(counted.begin(), counted.end(), place) == counted.end()) {
        counted.push_back(place);
        own.times_ns.push_back(0);
      }
      own.times_ns.back() += piece.end_ns - piece.begin_ns;
    }
    pieces.clear();
    before = site;
  }
}

std::uint64_t HostGaps::OfRank::times() const {
  return static_cast<std::uint64_t>(std::count_if(times_ns.begin(), times_ns.end(), [&](std::uint64_t each) {
    return each * 10 * times_ns.size() >= total_ns;
  }));
}

std::vector<std::string> HostGaps::calls_of(const Place& place, const Trial& trial) {
  const auto of_site = [&](std::uint32_t site) {
    return site == ReplayGraph::no_site ? std::string() : trial.call_of_site(site);
  };
  return {of_site(place.before), of_site(place.behind)};
}

void HostGaps::propose_for(const Place& place, const OfRanks& ranks, const Trial& trial) const {
  std::vector<std::uint64_t> totals(trial.ranks.size(), 0);
  std::uint64_t sum_ns = 0;
  std::uint64_t times = 0;
  std::size_t most = 0;
  for (const auto& [position, own] : ranks) {
    totals[position] = own.total_ns;
    sum_ns += own.total_ns;
    times += own.times();
    most = totals[position] > totals[most] ? position : most;
  }
  std::vector<std::uint64_t> sorted = totals;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>((sorted.size() - 1) / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  const std::uint64_t usual_ns = *middle;

  // Leaves out what is above `rest_ns` of each rank's total.
  const auto scenario_down_to = [&](std::uint64_t rest_ns) {
    Scenario scenario;
    scenario.without_host.resize(trial.ranks.size());
    for (const auto& [position, own] : ranks) {
      if (own.total_ns <= rest_ns) {
        continue;
      }
      const double gone = 1 - static_cast<double>(rest_ns) / static_cast<double>(own.total_ns);
      std::vector<Interval> pieces = own.pieces;
      for (Interval& each : pieces) {
        each.end_ns = each.begin_ns +
                      static_cast<std::uint64_t>(static_cast<double>(each.end_ns - each.begin_ns) * gone);
      }
      scenario.without_host[position] = IntervalSet::union_of(std::move(pieces));
    }
    return scenario;
  };
  const std::uint64_t without_ns = trial.saved_ns(scenario_down_to(0));
  if (without_ns < trial.least_ns()) {
    return;
  }
  ChangeFigures change{.kind = AdviceKind::host_code};
  std::uint64_t saved_ns = without_ns;
  if (trial.ranks.size() > 1 && totals[most] / 2 > usual_ns) {
    const std::uint64_t as_usual_ns = trial.saved_ns(scenario_down_to(usual_ns));
    if (as_usual_ns > without_ns / 10 * 7) {
      saved_ns = as_usual_ns;
      change.rank = trial.ranks[most];
    }
  }
  change.calls = calls_of(place, trial);
  change.range = place.range == no_range ? std::string() : trial.names.at(place.range);
  // of all: what is usual on a rank that does it at all
  change.times = change.rank < 0 ? std::max<std::uint64_t>((times + ranks.size() / 2) / ranks.size(), 1)
                                 : ranks.at(most).times();
  change.time_ns = change.rank < 0 ? sum_ns / ranks.size() : totals[most];
  change.others_ns = usual_ns;
  trial.keep(saved_ns, std::move(change));
}

/// Tries the job without all this host code, if it is not one place's that most depends on.
void HostGaps::propose_all(const Trial& trial) const {
  if (places_.size() < 2) {
    return;
  }
  std::vector<std::vector<Interval>> pieces(trial.ranks.size());
  ChangeFigures change{.kind = AdviceKind::host_code, .is_part = true};
  const Place* largest = nullptr;
  for (const auto& [place, ranks] : places_) {
    std::uint64_t of_place_ns = 0;
    for (const auto& [position, own] : ranks) {
      pieces[position].insert(pieces[position].end(), own.pieces.begin(), own.pieces.end());
      of_place_ns += own.total_ns;
    }
    change.time_ns += of_place_ns;
    if (largest == nullptr || of_place_ns > change.others_ns) {
      largest = &place;
      change.others_ns = of_place_ns;
    }
  }
  Scenario scenario;
  for (std::vector<Interval>& each : pieces) {
    scenario.without_host.push_back(IntervalSet::union_of(std::move(each)));
  }
  const std::uint64_t saved_ns = trial.saved_ns(scenario);
  const bool is_of_one_place =
      std::any_of(trial.changes.begin(), trial.changes.end(), [&](const ChangeFigures& each) {
        return each.kind == AdviceKind::host_code && trial.unchanged_ns - each.total_ns > saved_ns / 3 * 2;
      });
  if (!is_of_one_place) {
    change.calls = calls_of(*largest, trial);
    change.range = largest->range == no_range ? std::string() : trial.names.at(largest->range);
    change.times = places_.size();
    trial.keep(saved_ns, std::move(change));
  }
}

/// Counts what lies before the first call or behind the last one with what lies between such calls elsewhere.
void HostGaps::join_ends() {
  for (auto each = places_.begin(); each != places_.end();) {
    const Place& place = each->first;
    const bool is_begin = place.before == ReplayGraph::no_site;
    const bool is_end = place.behind == ReplayGraph::no_site;
    const auto whole = std::find_if(places_.begin(), places_.end(), [&](const auto& other) {
      const Place& at = other.first;
      return at.range == place.range && at.before != ReplayGraph::no_site &&
             at.behind != ReplayGraph::no_site && (is_begin || at.before == place.before) &&
             (is_end || at.behind == place.behind);
    });
    if (is_begin == is_end || whole == places_.end()) {
      ++each;
      continue;
    }
    for (auto& [position, own] : each->second) {
      OfRank& sum = whole->second[position];
      sum.pieces.insert(sum.pieces.end(), own.pieces.begin(), own.pieces.end());
      sum.total_ns += own.total_ns;
      sum.times_ns.insert(sum.times_ns.end(), own.times_ns.begin(), own.times_ns.end());
    }
    each = places_.erase(each);
  }
}

void HostGaps::propose(const Trial& trial) {
  join_ends();
  for (const auto& [place, ranks] : places_) {
    const bool is_enough = std::any_of(ranks.begin(), ranks.end(), [&](const auto& each) {
      return each.second.total_ns >= trial.least_ns();
    });
    if (is_enough) {
      propose_for(place, ranks, trial);
    }
  }
  propose_all(trial);
}

}  // namespace penstock::analysis
