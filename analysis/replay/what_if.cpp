#include "analysis/replay/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <set>
#include <utility>

#include "analysis/joining/message_class.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

std::vector<const RankFigures*> counted_ranks(const Report& report) {
  std::vector<const RankFigures*> ranks;
  for (const RankFigures& rank : report.ranks) {
    if (rank.is_counted) {
      ranks.push_back(&rank);
    }
  }
  return ranks;
}

double ratio(double part, double whole) {
  return whole > 0 ? std::min(part / whole, 1.0) : 1.0;
}

struct MeanAndMost {
  double mean = 0;
  double most = 0;
};

MeanAndMost of(const std::vector<const RankFigures*>& ranks, std::uint64_t RankFigures::*figure) {
  MeanAndMost result;
  for (const RankFigures* rank : ranks) {
    const auto value = static_cast<double>(rank->*figure);
    result.mean += value / static_cast<double>(ranks.size());
    result.most = std::max(result.most, value);
  }
  return result;
}

EfficiencyFigures efficiency_of(const std::vector<const RankFigures*>& ranks, double observed_ns,
                                double free_ns) {
  const MeanAndMost computing = of(ranks, &RankFigures::computing_ns);
  // a rank that computes all the time bounds the job even if its graph runs shorter
  const double ideal_ns = std::clamp(free_ns, std::min(computing.most, observed_ns), observed_ns);
  EfficiencyFigures efficiency;
  efficiency.load_balance = ratio(computing.mean, computing.most);
  efficiency.serialisation = ratio(computing.most, ideal_ns);
  efficiency.transfer = ratio(ideal_ns, observed_ns);
  efficiency.communication = efficiency.serialisation * efficiency.transfer;
  efficiency.parallel = efficiency.load_balance * efficiency.communication;
  return efficiency;
}

GpuEfficiencyFigures gpu_efficiency_of(const std::vector<const RankFigures*>& ranks, double observed_ns) {
  const MeanAndMost kernels = of(ranks, &RankFigures::kernels_ns);
  const MeanAndMost busy = of(ranks, &RankFigures::gpu_busy_ns);
  GpuEfficiencyFigures efficiency;
  efficiency.load_balance = ratio(kernels.mean, kernels.most);
  efficiency.communication = ratio(kernels.most, busy.most);
  efficiency.orchestration = ratio(busy.most, observed_ns);
  efficiency.parallel = efficiency.load_balance * efficiency.communication * efficiency.orchestration;
  return efficiency;
}

/// `replayed_ns`: how long the job takes, to which all pieces add up.
PathFigures path_of(ReplayGraph& graph, const std::vector<const RankFigures*>& ranks,
                    std::uint64_t replayed_ns,
                    const std::function<std::string(std::uint32_t)>& call_of_site) {
  PathFigures path;
  std::map<std::uint32_t, std::uint64_t> by_site;
  std::map<std::int32_t, std::uint64_t> by_rank;
  path.before_steps_ns = replayed_ns;
  for (const PathPiece& piece : graph.longest_path()) {
    path.first_rank = path.first_rank < 0 ? ranks[piece.position]->rank : path.first_rank;
    path.before_steps_ns -= std::min(path.before_steps_ns, piece.time_ns);
    by_rank[ranks[piece.position]->rank] += piece.time_ns;
    switch (piece.work) {
      case Work::kernel:
        path.kernels_ns += piece.time_ns;
        break;
      case Work::launch:
        path.launch_ns += piece.time_ns;
        break;
      case Work::host_code:
        path.host_code_ns += piece.time_ns;
        break;
      case Work::communication:
        path.communication_ns += piece.time_ns;
        by_site[piece.site] += piece.time_ns;
        break;
    }
  }
  for (const auto& [site, time_ns] : by_site) {
    if (time_ns != 0) {
      path.calls.emplace_back(call_of_site(site), time_ns);
    }
  }
  path.ranks.assign(by_rank.begin(), by_rank.end());
  const auto most_first = [](const auto& left, const auto& right) {
    return left.second != right.second ? left.second > right.second : left.first < right.first;
  };
  std::sort(path.calls.begin(), path.calls.end(), most_first);
  std::sort(path.ranks.begin(), path.ranks.end(), most_first);
  return path;
}

void set_factor(std::vector<double>& factors, std::uint32_t message_class, double factor) {
  if (message_class >= factors.size()) {
    factors.resize(message_class + 1, 1.0);
  }
  factors[message_class] = factor;
}

/// Every message is as fast as the fastest twentieth of its class.
Scenario steady_wire(const Report& report) {
  Scenario scenario;
  for (const TransportFigures& each : report.transports) {
    if (each.median_gbps && each.best_gbps && *each.best_gbps > 0) {
      set_factor(scenario.moving, each.message_class, std::min(1.0, *each.median_gbps / *each.best_gbps));
    }
  }
  return scenario;
}

/// Messages of one transport, as if they had taken another one.
struct OtherWay {
  Scenario scenario;
  std::uint64_t bytes = 0;        ///< that took the first transport
  std::uint64_t known_bytes = 0;  ///< the part whose speed on the other transport is known
  [[nodiscard]] double known_share() const {
    return static_cast<double>(known_bytes) / static_cast<double>(bytes);
  }
};

/// Each message takes as long as messages of the same kinds of memory and size class took on the other
/// transport in this recording. If several such classes exist, the one with most messages is used, except
/// lists that travelled as bitmaps. A message without a counterpart stays as it was, as does one between
/// ranks that the other transport cannot connect.
template <typename IsOne, typename IsOther>
OtherWay instead(const Report& report, IsOne is_one, IsOther is_other) {
  const auto usual_other = [&](const TransportFigures& one) {
    const TransportFigures* usual = nullptr;
    for (const TransportFigures& each : report.transports) {
      if (is_other(each.transport) && may_go_by(one.transport, each.transport) && !each.went_packed() &&
          each.median_gbps && *each.median_gbps > 0 && each.source == one.source &&
          each.destination == one.destination && each.size_limit_bytes == one.size_limit_bytes &&
          (usual == nullptr || each.messages > usual->messages)) {
        usual = &each;
      }
    }
    return usual;
  };
  OtherWay way;
  for (const TransportFigures& each : report.transports) {
    if (each.transport == trace::TransportKind::fused || !is_one(each.transport) ||
        !(is_device_memory(each.source) || is_device_memory(each.destination))) {
      continue;  // the MPI library's transport is the only one for host memory
    }
    way.bytes += each.bytes;
    const TransportFigures* const other = usual_other(each);
    const std::optional<double> time = other == nullptr ? std::nullopt : time_by(*other, each);
    if (time) {
      way.known_bytes += each.bytes;
      set_factor(way.scenario.moving, each.message_class, *time);
    }
  }
  return way;
}

std::string words_of(std::string what, const OtherWay& way) {
  return way.known_bytes == way.bytes
             ? what
             : fmt::format("{} ({} of their bytes; the speed of the rest is unknown)", what,
                           percent_text(way.known_share()));
}

/// Messages that went through host memory are as fast as direct ones, if those are faster.
OtherWay straight(const Report& report) {
  OtherWay way = instead(
      report, [](trace::TransportKind each) { return !is_direct(each); }, is_direct);
  std::vector<double>& moving = way.scenario.moving;
  for (double& factor : moving) {
    factor = std::min(factor, 1.0);
  }
  if (std::all_of(moving.begin(), moving.end(), [](double factor) { return factor == 1.0; })) {
    way.known_bytes = 0;
  }
  return way;
}

/// Each rank computes as long as the mean of all.
Scenario balanced(const std::vector<const RankFigures*>& ranks) {
  const MeanAndMost computing = of(ranks, &RankFigures::computing_ns);
  Scenario scenario;
  for (const RankFigures* rank : ranks) {
    scenario.computing.push_back(
        rank->computing_ns == 0 ? 1.0 : computing.mean / static_cast<double>(rank->computing_ns));
  }
  return scenario;
}

/// Replaces every transport by every other one that this recording has. Skips those that repeat `straight`.
void other_transports(ReplayGraph& graph, const Report& report, const OtherWay& straight,
                      std::vector<WhatIfFigures>& what_if) {
  std::set<trace::TransportKind> seen;
  for (const TransportFigures& each : report.transports) {
    // only collectives can go by kernels on each rank
    if (each.transport != trace::TransportKind::none && each.transport != trace::TransportKind::fused) {
      seen.insert(each.transport);
    }
  }
  for (const trace::TransportKind one : seen) {
    for (const trace::TransportKind other : seen) {
      const OtherWay way = instead(
          report, [=](trace::TransportKind each) { return each == one; },
          [=](trace::TransportKind each) { return each == other; });
      if (one == other || way.known_bytes == 0 || way.scenario.moving == straight.scenario.moving) {
        continue;
      }
      what_if.push_back(
          {fmt::format("{}_instead_of_{}", name_of(other), name_of(one)),
           words_of(fmt::format("messages that went by {} go by {}, as fast as others of their kind",
                                name_of(one), name_of(other)),
                    way),
           graph.run(way.scenario), way.known_share()});
    }
  }
}

}  // namespace

ReplayFigures replay(ReplayGraph& graph, const Report& report,
                     const std::function<std::string(std::uint32_t)>& call_of_site) {
  const std::vector<const RankFigures*> ranks = counted_ranks(report);
  ReplayFigures figures;
  figures.observed_ns = graph.observed_ns();
  figures.replayed_ns = graph.run({});
  figures.edges_left_out = graph.edges_left_out();
  const std::uint64_t free_ns = graph.run({.free_communication = true});
  figures.efficiency =
      efficiency_of(ranks, static_cast<double>(figures.observed_ns), static_cast<double>(free_ns));
  if (counts_exposed(report)) {
    figures.gpu_efficiency = gpu_efficiency_of(ranks, static_cast<double>(figures.observed_ns));
  }
  figures.path = path_of(graph, ranks, figures.replayed_ns, call_of_site);
  figures.what_if.push_back(
      {"free_communication", "free messages; ranks still wait for each other", free_ns});
  figures.what_if.push_back({"without_messages", "no messages; ranks wait only at collectives",
                             graph.run({.without_messages = true})});
  figures.what_if.push_back({"steady_wire", "every message as fast as the fastest 5 % of its kind",
                             graph.run(steady_wire(report))});
  const OtherWay without_staging = straight(report);
  if (without_staging.known_bytes != 0) {
    figures.what_if.push_back(
        {"straight",
         words_of("messages staged in host memory go directly, as fast as others of their kind",
                  without_staging),
         graph.run(without_staging.scenario), without_staging.known_share()});
  }
  other_transports(graph, report, without_staging, figures.what_if);
  if (ranks.size() > 1) {
    figures.what_if.push_back(
        {"balanced", "every rank computes for the mean time of all", graph.run(balanced(ranks))});
  }
  return figures;
}

}  // namespace penstock::analysis
