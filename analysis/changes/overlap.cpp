#include "analysis/changes/overlap.hpp"

#include <algorithm>
#include <utility>

#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {
namespace {

/// The share of a kernel's time that is taken to be its border, which may need the data: it widens the
/// uncertainty.
constexpr double border_share = 0.2;

}  // namespace

void Overlap::add(const GraphRank& rank) {
  const std::vector<RankLayout::Kernel>& kernels = rank.layout.kernels;
  episodes_.push_back({.first_kernel = static_cast<std::uint32_t>(kernels_.size())});
  std::size_t next = 0;  // the first kernel that begins after the last call
  const auto take_kernels = [&](std::uint64_t until_ns, bool are_between) {
    std::size_t taken = 0;
    for (; next < kernels.size() && rank.kernel_begin_ns(kernels[next]) < until_ns; ++next) {
      if (are_between) {
        kernels_.push_back({kernels[next].node, rank.kernel_name(kernels[next])});
        ++episodes_.back().kernels;
        ++taken;
      }
    }
    return taken != 0;
  };
  std::uint64_t last_end_ns = 0;  // of the last exchange's last call, by the rank's clock
  for (const RankLayout::HostItem& item : rank.layout.host) {
    if (item.call == RankTrace::no_call) {
      continue;
    }
    const trace::MpiCall& call = rank.call(item);
    const bool has_kernels = take_kernels(rank.graph.observed_ns(item.begin), true);
    const std::uint32_t site = rank.site_of_call(item.call);
    const bool is_exchange = !rank.is_collective(item);
    Episode& last = episodes_.back();
    const bool goes_on =
        is_exchange && last.site != ReplayGraph::no_site &&
        (!has_kernels || rank.timeline.in_flight.measure_within_ns(last_end_ns, call.begin_ns) ==
                             call.begin_ns - std::min(last_end_ns, call.begin_ns));
    if (goes_on) {
      kernels_.resize(last.first_kernel);  // they run beside it already
      last.kernels = 0;
      last.end = item.end;
      groups_.join(last.site, site);
    } else {
      episodes_.push_back({.begin = item.begin,
                           .end = item.end,
                           .site = is_exchange ? site : ReplayGraph::no_site,
                           .first_kernel = static_cast<std::uint32_t>(kernels_.size())});
    }
    if (is_exchange) {
      last_end_ns = call.end_ns;
      sites_[site].calls_ns += call.end_ns - call.begin_ns;
      ++sites_[site].times;
    }
    take_kernels(rank.graph.observed_ns(item.end), false);
  }
  take_kernels(~std::uint64_t{0}, true);
}

/// Adds the kernels behind an episode to sums by name.
void Overlap::count(const ReplayGraph& graph, std::uint32_t behind, ByName& kernels) const {
  const Episode& episode = episodes_[behind];
  for (std::uint32_t i = 0; i < episode.kernels; ++i) {
    const Kernel& kernel = kernels_[episode.first_kernel + i];
    OfKernel& sums = kernels[kernel.name];
    sums.total_ns += graph.work_ns(kernel.node);
    ++sums.times;
    const bool unpacks = i == 0 && is_exchange(behind);
    const bool packs = i + 1 == episode.kernels && is_exchange(behind + 1);
    sums.packs += unpacks || packs ? 1 : 0;
  }
}

Overlap::Movable Overlap::choose(const ByName& kernels, const ByName& other_side) {
  Movable movable;
  std::uint32_t longest = 0;
  std::uint64_t longest_ns = 0;
  for (const auto& [name, sums] : kernels) {
    if (sums.mean_ns() > longest_ns) {
      longest = name;
      longest_ns = sums.mean_ns();
    }
  }
  std::uint64_t packing_ns = 0;  // the longest that stays beside the longest of all
  bool longest_stays = false;
  for (const auto& [name, sums] : other_side) {
    packing_ns = std::max(packing_ns, name != longest && sums.stays() ? sums.mean_ns() : 0);
  }
  for (const auto& [name, sums] : kernels) {
    const bool stays = sums.stays();
    if (name == longest) {
      longest_stays = stays;
    } else if (stays) {
      packing_ns = std::max(packing_ns, sums.mean_ns());
    } else {
      movable.names.push_back(name);
    }
  }
  if (longest_ns != 0 && (!longest_stays || longest_ns > 2 * packing_ns)) {
    movable.names.push_back(longest);
    movable.is_part = longest_stays;
  }
  std::sort(movable.names.begin(), movable.names.end(), [&](std::uint32_t left, std::uint32_t right) {
    return kernels.at(left).total_ns > kernels.at(right).total_ns;
  });
  return movable;
}

void Overlap::propose_for(std::uint32_t group, const std::vector<std::uint32_t>& episodes,
                          const Trial& trial) {
  ByName behind;
  ByName before;
  for (const std::uint32_t each : episodes) {
    count(trial.graph, each, behind);
    count(trial.graph, each - 1, before);
  }
  Movable movable = choose(behind, before);
  const bool is_behind = !movable.names.empty();
  if (!is_behind) {
    movable = choose(before, behind);
  }
  if (movable.names.empty()) {
    return;
  }
  const auto is_movable = [&](const Kernel& kernel) {
    return std::find(movable.names.begin(), movable.names.end(), kernel.name) != movable.names.end();
  };
  const auto is_of_group = [&](std::uint32_t episode) {
    return is_exchange(episode) && groups_.group_of(episodes_[episode].site) == group;
  };
  const auto movables_behind = [&](std::uint32_t episode) {
    const auto first = kernels_.begin() + episodes_[episode].first_kernel;
    return std::count_if(first, first + episodes_[episode].kernels, is_movable);
  };
  // Kernels between two of these exchanges run beside the first one, unless kernels precede the first of all:
  // then beside the second one.
  std::ptrdiff_t at_begin = 0;
  std::ptrdiff_t at_end = 0;
  for (const std::uint32_t each : episodes) {
    at_begin += is_of_group(each - 1) ? 0 : movables_behind(each - 1);
    at_end += is_of_group(each + 1) ? 0 : movables_behind(each);
  }
  const bool run_beside_next = at_begin > at_end;
  const auto scenario_with = [&](double moved_share) {
    Scenario scenario;
    for (const std::uint32_t each : episodes) {
      std::uint64_t moved_ns = 0;
      const auto move_kernels_of = [&](const Episode& from) {
        for (std::uint32_t i = 0; i < from.kernels; ++i) {
          const Kernel& kernel = kernels_[from.first_kernel + i];
          if (is_movable(kernel)) {
            const std::uint64_t own_ns = trial.graph.work_ns(kernel.node);
            const auto part_ns = static_cast<std::uint64_t>(static_cast<double>(own_ns) * moved_share);
            scenario.work_ns[kernel.node] = own_ns - part_ns;
            moved_ns += part_ns;
          }
        }
      };
      if (run_beside_next || !is_of_group(each - 1)) {
        move_kernels_of(episodes_[each - 1]);
      }
      if (!run_beside_next || !is_of_group(each + 1)) {
        move_kernels_of(episodes_[each]);
      }
      scenario.beside.push_back({episodes_[each].end, episodes_[each].begin, moved_ns});
    }
    std::sort(scenario.beside.begin(), scenario.beside.end(),
              [](const Beside& left, const Beside& right) { return left.end < right.end; });
    return scenario;
  };
  const std::uint64_t saved_ns = trial.saved_ns(scenario_with(1));
  if (saved_ns < trial.least_ns()) {
    return;
  }
  ChangeFigures change{.kind = AdviceKind::overlap};
  if (movable.is_part) {
    const std::uint64_t with_border_ns = trial.saved_ns(scenario_with(1 - border_share));
    change.spread_ns = saved_ns - std::min(saved_ns, with_border_ns);
  }
  change.kernel = readable_symbol(trial.names.at(movable.names.front()));
  change.is_part = movable.is_part;
  change.time_ns = (is_behind ? behind : before)[movable.names.front()].total_ns;
  std::vector<std::pair<std::uint64_t, std::uint32_t>> sites;
  for (const auto& [site, time] : sites_) {
    if (groups_.group_of(site) == group) {
      sites.emplace_back(time.calls_ns, site);
      change.others_ns += time.calls_ns;
    }
  }
  std::sort(sites.rbegin(), sites.rend());
  for (const auto& [time_ns, site] : sites) {
    change.calls.push_back(trial.call_of_site(site));
  }
  change.times = episodes.size();
  trial.keep(saved_ns, std::move(change));
}

void Overlap::propose(const Trial& trial) {
  std::map<std::uint32_t, std::vector<std::uint32_t>> groups;
  std::map<std::uint32_t, std::uint64_t> time_of_group;
  for (std::uint32_t i = 0; i < episodes_.size(); ++i) {
    if (is_exchange(i)) {
      const std::uint32_t group = groups_.group_of(episodes_[i].site);
      groups[group].push_back(i);
      time_of_group[group] +=
          trial.graph.observed_ns(episodes_[i].end) - trial.graph.observed_ns(episodes_[i].begin);
    }
  }
  for (const auto& [group, episodes] : groups) {
    if (time_of_group[group] >= trial.least_ns()) {  // of all ranks together: a bound
      propose_for(group, episodes, trial);
    }
  }
}

}  // namespace penstock::analysis
