#include "analysis/causes/step_finder.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/tables/pattern.hpp"

namespace penstock::analysis {
namespace {

/// Returns true for a range that a library opens around its own calls, as often as it is called in a step.
bool is_of_a_library(std::string_view range) {
  static constexpr std::array patterns{"cub::*",    "thrust::*", "cublas*", "cufft*",
                                       "cusolver*", "cusparse*", "nccl*"};
  return std::any_of(patterns.begin(), patterns.end(),
                     [range](std::string_view pattern) { return matches(pattern, range); });
}

}  // namespace

void StepFinder::Candidate::add(const RankSteps::Times& rank) {
  if (ranks == 0) {
    fewest_times = rank.times;
    first_ns = rank.begin_ns;
    first_number = rank.first_number;
  }
  first_number = first_number == 0 || rank.first_number == 0 ? 0 : std::max(first_number, rank.first_number);
  ++ranks;
  fewest_times = std::min(fewest_times, rank.times);
  most_times = std::max(most_times, rank.times);
  covered_calls += rank.covered_calls;
  irregular += rank.irregular;
  times += rank.times;
  is_regular = is_regular && rank.is_regular;
}

/// Allows a difference of one step: if a job was killed, some ranks are a step ahead. So they may be when
/// knowledge begins.
bool StepFinder::Candidate::is_alike_on_ranks(bool begins_late) const noexcept {
  return most_times - fewest_times <= (begins_late ? 2 : 1) + fewest_times / 100;
}

bool StepFinder::Candidate::is_more_regular_than(const Candidate& other) const noexcept {
  return irregular * other.times < other.irregular * times;
}

void StepFinder::add(const RankSteps& rank, std::span<const std::uint32_t> sites) {
  Group& group = rank.used_gpu ? with_gpu_ : without_gpu_;
  ++group.ranks;
  group.begins_late = group.begins_late || rank.begins_late;
  group.calls += rank.calls;
  group.communication_ns += rank.communication_ns;
  const auto add_to = [sites](std::map<std::uint32_t, Site>& of_group,
                              const std::vector<RankSteps::AtSite>& of_rank) {
    for (const RankSteps::AtSite& each : of_rank) {
      Site& site = of_group[sites[each.site]];
      site.all.add(each.all);
      site.like_the_first.add(each.like_the_first);
    }
  };
  add_to(group.paths, rank.paths);
  add_to(group.innermost, rank.innermost);
  for (const RankSteps::OfRange& each : rank.ranges) {
    Candidate& candidate = group.ranges[each.name];
    candidate.depth = std::max(candidate.depth, each.depth);
    candidate.add(each.times);
    candidate.held_ns += each.held_ns;
  }
}

std::optional<StepMark> StepFinder::found() const {
  const Group& group = with_gpu_.ranks != 0 ? with_gpu_ : without_gpu_;
  std::optional<StepMark> mark = found_among(group, group.paths);
  if (!mark) {
    mark = found_among(group, group.innermost);
    if (mark) {
      mark->is_path = false;
    }
  }
  return mark;
}

bool StepFinder::Group::all_have(const Candidate& each) const noexcept {
  return each.is_regular && each.is_alike_on_ranks(begins_late) && each.ranks == ranks;
}

template <typename Suits>
std::optional<StepMark> StepFinder::outermost_range(const Group& group, const Suits& suits) {
  std::optional<StepMark> best;
  const Candidate* best_range = nullptr;
  for (const auto& [name, each] : group.ranges) {
    if (group.all_have(each) && !is_of_a_library(name) && suits(each) &&
        (best_range == nullptr || std::tie(each.depth, each.first_ns, best_range->held_ns) <
                                      std::tie(best_range->depth, best_range->first_ns, each.held_ns))) {
      best_range = &each;
      best = StepMark{.range = name, .first_number = each.first_number};
    }
  }
  return best;
}

std::optional<StepMark> StepFinder::found_among(const Group& group,
                                                const std::map<std::uint32_t, Site>& group_sites) {
  if (std::optional<StepMark> range = outermost_range(
          group, [&group](const Candidate& each) { return each.held_ns * 2 >= group.communication_ns; })) {
    return range;
  }
  const auto is_possible = [&group](const Candidate& each) {
    return group.all_have(each) && each.covered_calls * 2 >= group.calls;
  };
  struct OfSite {
    std::uint32_t site;
    CallsOfSite calls;
    const Candidate* candidate;
  };
  std::vector<OfSite> sites;
  std::uint64_t most_calls = 0;
  for (const auto& [site, each] : group_sites) {
    const bool all_are_possible = is_possible(each.all);
    if (is_possible(each.like_the_first) &&
        (!all_are_possible || each.like_the_first.is_more_regular_than(each.all))) {
      sites.push_back({site, CallsOfSite::like_the_first, &each.like_the_first});
    } else if (all_are_possible) {
      sites.push_back({site, CallsOfSite::all, &each.all});
    }
  }
  for (const OfSite& each : sites) {
    most_calls = std::max(most_calls, each.candidate->covered_calls);
  }
  for (const auto& [name, each] : group.ranges) {
    if (is_possible(each) && !is_of_a_library(name)) {
      most_calls = std::max(most_calls, each.covered_calls);
    }
  }
  const auto covers_as_much = [&](const Candidate& each) {
    return is_possible(each) && each.covered_calls * 10 >= most_calls * 9;
  };
  if (std::optional<StepMark> range = outermost_range(group, covers_as_much)) {
    const Candidate& covering = group.ranges.find(range->range)->second;
    const auto is_around_it = [&](const Candidate& each) {
      return is_possible(each) && each.depth < covering.depth && each.times * 2 >= covering.times;
    };
    const std::optional<StepMark> around_it = outermost_range(group, is_around_it);
    return around_it ? around_it : range;
  }
  std::optional<StepMark> best;
  const Candidate* best_site = nullptr;
  for (const OfSite& each : sites) {
    const Candidate& candidate = *each.candidate;
    if (covers_as_much(candidate) &&
        (best_site == nullptr || std::tie(best_site->most_times, candidate.first_ns) <
                                     std::tie(candidate.most_times, best_site->first_ns))) {
      best_site = &candidate;
      best = StepMark{.site = each.site, .calls = each.calls, .first_number = candidate.first_number};
    }
  }
  return best;
}

std::optional<StepMark> StepFinder::range(std::string_view name) const {
  std::optional<StepMark> mark;
  for (const Group* const group : {&with_gpu_, &without_gpu_}) {
    if (const auto found = group->ranges.find(name); found != group->ranges.end()) {
      const std::uint64_t number = found->second.first_number;
      mark = StepMark{.range = std::string(name),
                      .first_number = mark ? std::max(mark->first_number, number) : number};
    }
  }
  return mark;
}

}  // namespace penstock::analysis
