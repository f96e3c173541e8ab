#include "analysis/changes/reductions.hpp"

#include <algorithm>
#include <set>
#include <string_view>

namespace penstock::analysis {
namespace {

constexpr std::uint64_t most_small_bytes = 4096;  // of a call: in and out
constexpr std::uint64_t most_scalar_bytes = 128;  // likewise: a few numbers
constexpr std::size_t often = 10;                 // one in so many could do

bool is_reduction(std::string_view function) {
  return function == "MPI_Allreduce" || function == "MPI_Reduce";
}

}  // namespace

void Reductions::add(const GraphRank& rank) {
  const RankLayout::HostItem* last = nullptr;
  for (const RankLayout::HostItem& item : rank.layout.host) {
    const std::uint32_t id = rank.graph.collective_of(item.end);
    if (item.call == RankTrace::no_call || id == ReplayGraph::none || !rank.is_collective(item) ||
        rank.call(item).waits == 0 || rank.call(item).bytes > most_small_bytes ||
        rank.graph.collective_of(item.begin) != id) {
      last = nullptr;
      continue;
    }
    const trace::MpiCall& call = rank.call(item);
    const std::string& function = rank.trace.strings.at(call.function);
    Small& small = collectives_[id];
    small.site = rank.site_of_call(item.call);
    small.time_ns += call.end_ns - call.begin_ns;
    small.is_scalar = small.is_scalar && is_reduction(function) && call.bytes <= most_scalar_bytes;
    ++small.ranks;
    if (last != nullptr) {
      const trace::MpiCall& before = rank.call(*last);
      if (before.function == call.function && before.communicator == call.communicator &&
          before.collective_ordinal + 1 == call.collective_ordinal && before.peer == call.peer &&
          is_reduction(function) && call.begin_ns < before.end_ns + shortest_host_code_ns &&
          rank.busy.measure_within_ns(rank.graph.reference_ns(rank.trace, before.end_ns),
                                      rank.graph.reference_ns(rank.trace, call.begin_ns)) == 0) {
        ++small.could_join;
        small.site_before = rank.site_of_call(last->call);
      }
    }
    last = &item;
  }
}

/// Tries the job without the collectives that could be part of the one before.
void Reductions::combine(const Trial& trial) {
  SiteGroups groups;
  for (const auto& [id, small] : collectives_) {
    if (small.could_join == small.ranks) {
      groups.join(small.site, small.site_before);
    }
  }
  struct Group {
    Scenario scenario;
    std::set<std::uint32_t> sites;
    std::uint64_t times = 0;
    std::uint64_t time_ns = 0;
  };
  std::map<std::uint32_t, Group> of_group;
  for (const auto& [id, small] : collectives_) {
    if (small.could_join == small.ranks) {
      Group& group = of_group[groups.group_of(small.site)];
      group.scenario.without_collective.resize(id + std::size_t{1});
      group.scenario.without_collective[id] = true;
      group.sites.insert({small.site_before, small.site});
      ++group.times;
      group.time_ns += small.time_ns;
    }
  }
  for (const auto& [number, group] : of_group) {
    const std::size_t before = trial.changes.size();
    ChangeFigures change{.kind = AdviceKind::combine_collectives};
    for (const std::uint32_t site : group.sites) {
      change.calls.push_back(trial.call_of_site(site));
    }
    change.times = group.times;
    change.time_ns = group.time_ns;
    trial.keep(trial.saved_ns(group.scenario), std::move(change));
    if (trial.changes.size() != before) {
      for (const std::uint32_t site : group.sites) {
        combined_.resize(std::max<std::size_t>(combined_.size(), site + std::size_t{1}));
        combined_[site] = true;
      }
    }
  }
}

/// Tries the job with one of ten reductions of scalars at a site.
void Reductions::reduce_less_often(const Trial& trial) const {
  struct OfSite {
    Scenario scenario;
    std::size_t times = 0;
    std::uint64_t time_ns = 0;
  };
  std::map<std::uint32_t, OfSite> sites;
  for (const auto& [id, small] : collectives_) {
    if (!small.is_scalar || (small.site < combined_.size() && combined_[small.site])) {
      continue;
    }
    OfSite& of_site = sites[small.site];
    if (++of_site.times % often != 0) {
      of_site.scenario.without_collective.resize(id + std::size_t{1});
      of_site.scenario.without_collective[id] = true;
    }
    of_site.time_ns += small.time_ns;
  }
  for (const auto& [site, of_site] : sites) {
    if (of_site.times >= often) {
      ChangeFigures change{.kind = AdviceKind::reduce_less_often};
      change.calls.push_back(trial.call_of_site(site));
      change.times = of_site.times;
      change.time_ns = of_site.time_ns;
      trial.keep(trial.saved_ns(of_site.scenario), std::move(change));
    }
  }
}

void Reductions::propose(const Trial& trial) {
  combine(trial);
  reduce_less_often(trial);
}

}  // namespace penstock::analysis
