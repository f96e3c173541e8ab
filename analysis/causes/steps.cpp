#include "analysis/causes/steps.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "analysis/causes/timeline.hpp"

namespace penstock::analysis {
namespace {

constexpr std::uint64_t least_times = 3;

/// Counts how often the same number of other calls lies between two calls of a site. Keeps the first few
/// numbers only: a regular site has hardly any others.
class Distances {
 public:
  void add(std::uint64_t distance) {
    ++all_;
    for (auto& [known, times] : counts_) {
      if (times == 0 || known == distance) {
        known = distance;
        ++times;
        return;
      }
    }
  }
  [[nodiscard]] std::uint64_t irregular() const {
    std::uint64_t most = 0;
    for (const auto& [distance, times] : counts_) {
      most = std::max(most, times);
    }
    return all_ - most;
  }
  /// Returns true if four out of five distances are equal.
  [[nodiscard]] bool are_regular() const { return irregular() * 5 <= all_; }

 private:
  std::array<std::pair<std::uint64_t, std::uint64_t>, 4> counts_{};
  std::uint64_t all_ = 0;
};

/// Returns the communicating calls of the thread that has most of them, in time order.
std::vector<const trace::MpiCall*> calls_of_main_lane(const RankTrace& rank) {
  std::vector<std::uint64_t> calls_of_lane(rank.calls_of_lanes().size(), 0);
  for (const Call& each : rank.calls) {
    calls_of_lane[each.lane] += communicates(each.record) ? 1 : 0;
  }
  std::vector<const trace::MpiCall*> calls;
  if (rank.calls.empty()) {
    return calls;
  }
  const auto busiest = std::max_element(calls_of_lane.begin(), calls_of_lane.end());
  calls.reserve(*busiest);
  const auto lane = static_cast<std::uint32_t>(busiest - calls_of_lane.begin());
  for (const Call& each : rank.calls) {
    if (each.lane == lane && communicates(each.record)) {
      calls.push_back(&each.record);
    }
  }
  return calls;
}

/// Decides which calls of one site count; all are passed in order.
class CountedCalls {
 public:
  /// Returns how the call counts; nullopt if it continues a row of calls. A call like the first one counts
  /// among all, too; the first always does. `index`: among the communicating calls.
  std::optional<CallsOfSite> count(const trace::MpiCall& call, std::size_t index) {
    const bool is_first = !first_;
    if (is_first) {
      first_ = {call.peer, call.tag};
    }
    const bool goes_on = !is_first && call.waits == 0 && index == last_ + 1;
    last_ = index;
    if (goes_on) {
      return std::nullopt;
    }
    return first_ == std::pair(call.peer, call.tag) ? CallsOfSite::like_the_first : CallsOfSite::all;
  }

 private:
  std::optional<std::pair<std::int32_t, std::int32_t>> first_;  ///< call's peer and tag
  std::size_t last_ = 0;
};

/// The calls that count, among all that communicate.
class Repeats {
 public:
  void add(std::size_t index, std::uint64_t number) {
    if (times_++ == 0) {
      first_ = index;
      first_number_ = number;
    } else {
      distances_.add(index - last_);
    }
    last_ = index;
  }
  [[nodiscard]] bool any() const noexcept { return times_ != 0; }
  /// Requires any().
  [[nodiscard]] RankSteps::Times times(const std::vector<const trace::MpiCall*>& calls) const {
    return {times_,
            calls[first_]->begin_ns,
            last_ - first_ + 1,
            distances_.irregular(),
            times_ >= least_times && distances_.are_regular(),
            first_number_};
  }

 private:
  std::uint64_t times_ = 0;
  std::size_t first_ = 0;
  std::size_t last_ = 0;
  std::uint64_t first_number_ = 0;
  Distances distances_;
};

/// Returns the number that the call has on all ranks alike; 0: none, or some ranks may not take part in it.
std::uint64_t number_of(const trace::MpiCall& call) {
  return call.communicator == world_local_id ? call.collective_ordinal : 0;
}

/// Decides which ranges of a rank's threads count as steps. Threads that all go through the steps have alike
/// many ranges of a name, and steps begin with those of the first one; else threads share the steps out, and
/// all count.
class StepThreads {
 public:
  explicit StepThreads(const RankTrace& rank) {
    for (const trace::Range& each : rank.ranges) {
      Threads& threads = of_name_[each.name];
      const auto found = std::find_if(threads.times.begin(), threads.times.end(),
                                      [&each](const auto& known) { return known.first == each.thread_id; });
      ++(found != threads.times.end() ? *found : threads.times.emplace_back(each.thread_id, 0)).second;
    }
    for (auto& [name, threads] : of_name_) {
      const auto [fewest, most] =
          std::minmax_element(threads.times.begin(), threads.times.end(),
                              [](const auto& left, const auto& right) { return left.second < right.second; });
      threads.all_count = most->second - fewest->second > 1 + fewest->second / 100;
    }
  }
  [[nodiscard]] bool count(const trace::Range& range) const {
    const Threads& threads = of_name_.at(range.name);
    return threads.all_count || range.thread_id == threads.times.front().first;
  }

 private:
  struct Threads {
    std::vector<std::pair<std::uint64_t, std::uint64_t>> times;  ///< by thread, in the order of their first
    bool all_count = false;
  };
  std::unordered_map<std::uint32_t, Threads> of_name_;
};

/// Returns false if the step that begins at that time is not known from its begin on.
bool is_known(const RankTrace& rank, std::uint64_t begin_ns) {
  return !rank.begins_late() || begin_ns >= rank.begin_ns;
}

/// `site_of`: returns the site of a call by its record's.
template <typename SiteOf>
std::vector<RankSteps::AtSite> times_at_sites(const RankTrace& rank,
                                              const std::vector<const trace::MpiCall*>& calls,
                                              SiteTable& sites, const SiteOf& site_of) {
  struct Seen {
    CountedCalls counted;
    Repeats all;
    Repeats like_the_first;
  };
  std::vector<Seen> seen;  // by site: the table holds this rank's sites, or little more
  sites.begin_rank();
  for (std::size_t i = 0; i < calls.size(); ++i) {
    const std::uint32_t id = sites.id_of(rank, site_of(calls[i]->call_site), calls[i]->function);
    if (id >= seen.size()) {
      seen.resize(id + std::size_t{1});
    }
    Seen& site = seen[id];
    const std::optional<CallsOfSite> counts = site.counted.count(*calls[i], i);
    if (!counts || !is_known(rank, calls[i]->begin_ns)) {
      continue;
    }
    site.all.add(i, number_of(*calls[i]));
    if (*counts == CallsOfSite::like_the_first) {
      site.like_the_first.add(i, number_of(*calls[i]));
    }
  }
  std::vector<RankSteps::AtSite> times;
  for (std::uint32_t id = 0; id < seen.size(); ++id) {
    if (const Seen& site = seen[id]; site.all.any()) {
      times.push_back({id, site.all.times(calls), site.like_the_first.times(calls)});
    }
  }
  return times;
}

void add_ranges(const RankTrace& rank, const std::vector<const trace::MpiCall*>& calls, RankSteps& steps) {
  struct Seen {
    std::uint64_t times = 0;
    std::uint64_t begin_ns = ~std::uint64_t{0};
    std::uint64_t end_ns = 0;
    std::uint64_t first_number = ~std::uint64_t{0};
    std::uint8_t depth = 0;  ///< the deepest: an inner range may stand alone during start-up
    std::uint64_t held_ns = 0;
  };
  const std::uint64_t first_ns = calls.empty() ? 0 : calls.front()->begin_ns;
  const std::uint64_t last_ns = calls.empty() ? 0 : calls.back()->end_ns;
  std::map<std::uint32_t, Seen> seen;
  Seen* range = nullptr;
  std::uint32_t name = trace::no_string;
  const StepThreads threads(rank);
  for (const trace::Range& each : rank.ranges) {
    if (!is_known(rank, each.begin_ns)) {
      continue;
    }
    if (range == nullptr || each.name != name) {
      name = each.name;
      range = &seen[name];
    }
    range->times += threads.count(each) ? 1 : 0;
    const std::uint64_t held_from_ns = std::max({each.begin_ns, first_ns, range->end_ns});
    const std::uint64_t held_until_ns = std::min(each.end_ns, last_ns);
    range->held_ns += held_until_ns > held_from_ns ? held_until_ns - held_from_ns : 0;
    range->begin_ns = std::min(range->begin_ns, each.begin_ns);
    range->end_ns = std::max(range->end_ns, each.end_ns);
    range->depth = std::max(range->depth, each.depth);
    range->first_number = std::min<std::uint64_t>(range->first_number, each.entry);
  }
  const auto index_at = [&calls](std::uint64_t time_ns) {
    return std::partition_point(calls.begin(), calls.end(),
                                [time_ns](const trace::MpiCall* call) { return call->begin_ns < time_ns; }) -
           calls.begin();
  };
  for (const auto& [id, each] : seen) {
    steps.ranges.push_back({rank.strings.at(id),
                            each.depth,
                            {each.times, each.begin_ns,
                             static_cast<std::uint64_t>(index_at(each.end_ns) - index_at(each.begin_ns)), 0,
                             each.times >= least_times, each.first_number},
                            each.held_ns});
  }
}

}  // namespace

RankSteps possible_steps(const RankTrace& rank, SiteTable& sites) {
  RankSteps steps;
  const std::vector<const trace::MpiCall*> calls = calls_of_main_lane(rank);
  steps.used_gpu = rank.used_gpu();
  steps.begins_late = rank.begins_late();
  steps.calls = calls.size();
  steps.communication_ns = calls.empty() ? 0 : calls.back()->end_ns - calls.front()->begin_ns;
  steps.paths = times_at_sites(rank, calls, sites, [](std::uint64_t call_site) { return call_site; });
  steps.innermost = rank.call_paths.empty()
                        ? steps.paths
                        : times_at_sites(rank, calls, sites, [&rank](std::uint64_t call_site) {
                            return rank.innermost(call_site);
                          });
  add_ranges(rank, calls, steps);
  return steps;
}

std::vector<std::uint64_t> step_bounds(const RankTrace& rank, const StepMark& mark, const SiteTable& sites) {
  std::vector<std::uint64_t> bounds;
  const auto begins_step = [&](std::uint64_t begin_ns, std::uint64_t number) {
    return !rank.begins_late() || (is_known(rank, begin_ns) && number >= mark.first_number);
  };
  if (mark.range.empty()) {
    std::map<std::pair<std::uint64_t, std::uint32_t>, bool> is_mark;
    auto last = is_mark.end();
    CountedCalls counted;
    const std::vector<const trace::MpiCall*> calls = calls_of_main_lane(rank);
    for (std::size_t i = 0; i < calls.size(); ++i) {
      const trace::MpiCall* const call = calls[i];
      const std::pair place(call->call_site, call->function);
      if (last == is_mark.end() || last->first != place) {
        last = is_mark.find(place);
        if (last == is_mark.end()) {
          const std::uint64_t site = mark.is_path ? call->call_site : rank.innermost(call->call_site);
          const bool is_it = sites.find(rank, site, call->function) == mark.site;
          last = is_mark.emplace(place, is_it).first;
        }
      }
      const std::optional<CallsOfSite> counts = last->second ? counted.count(*call, i) : std::nullopt;
      if (counts && begins_step(call->begin_ns, number_of(*call)) &&
          (mark.calls == CallsOfSite::all || *counts == CallsOfSite::like_the_first)) {
        bounds.push_back(call->begin_ns);
      }
    }
  } else {
    IdTable<bool> is_mark;
    std::uint64_t end_ns = 0;
    const StepThreads threads(rank);
    for (const trace::Range& each : rank.ranges) {
      const bool* known = is_mark.find(each.name);
      if (known == nullptr) {
        known = &(is_mark[each.name] = rank.strings.at(each.name) == mark.range);
      }
      if (*known && threads.count(each) && begins_step(each.begin_ns, each.entry)) {
        bounds.push_back(each.begin_ns);
        end_ns = std::max(end_ns, each.end_ns);
      }
    }
    // where the recording ends within the last range, it was no whole step
    if (!bounds.empty() && !(rank.is_cut() && end_ns > rank.end_ns)) {
      bounds.push_back(end_ns);
    }
  }
  for (std::uint64_t& each : bounds) {
    each = std::clamp(each, rank.begin_ns, rank.end_ns);
  }
  if (!std::is_sorted(bounds.begin(), bounds.end())) {
    std::sort(bounds.begin(), bounds.end());
  }
  if (bounds.size() < 2) {
    bounds.clear();
  }
  return bounds;
}

}  // namespace penstock::analysis
