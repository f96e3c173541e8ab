#include "analysis/replay/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

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

PathFigures path_of(ReplayGraph& graph, const std::vector<const RankFigures*>& ranks,
                    const std::function<std::string(std::uint32_t)>& call_of_site) {
  PathFigures path;
  std::map<std::uint32_t, std::uint64_t> by_site;
  std::map<std::int32_t, std::uint64_t> by_rank;
  for (const PathPiece& piece : graph.longest_path()) {
    by_rank[ranks[piece.position]->rank] += piece.time_ns;
    switch (piece.work) {
      case Work::kernel:
        path.kernels_ns += piece.time_ns;
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

bool is_direct(trace::TransportKind transport) {
  return transport == trace::TransportKind::local || transport == trace::TransportKind::peer ||
         transport == trace::TransportKind::striped || transport == trace::TransportKind::pushed;
}

void set_factor(std::vector<double>& factors, std::uint32_t message_class, double factor) {
  if (message_class >= factors.size()) {
    factors.resize(message_class + 1, 1.0);
  }
  factors[message_class] = factor;
}

/// Every message as fast as the fastest twentieth of its class.
Scenario steady_wire(const Report& report) {
  Scenario scenario;
  for (const TransportFigures& each : report.transports) {
    if (each.median_gbps && each.best_gbps && *each.best_gbps > 0) {
      set_factor(scenario.moving, each.message_class, std::min(1.0, *each.median_gbps / *each.best_gbps));
    }
  }
  return scenario;
}

/// What went through host memory, as fast as what went straight between the same kinds of memory, where that
/// was seen.
Scenario straight(const Report& report) {
  using Alike = std::tuple<trace::BufferKind, trace::BufferKind, std::uint64_t>;
  const auto alike = [](const TransportFigures& each) {
    return Alike{each.source, each.destination, each.size_limit_bytes};
  };
  std::map<Alike, double> fastest_gbps;
  for (const TransportFigures& each : report.transports) {
    if (is_direct(each.transport) && each.median_gbps) {
      double& fastest = fastest_gbps[alike(each)];
      fastest = std::max(fastest, *each.median_gbps);
    }
  }
  Scenario scenario;
  for (const TransportFigures& each : report.transports) {
    const auto fast = fastest_gbps.find(alike(each));
    if (!is_direct(each.transport) && each.median_gbps && fast != fastest_gbps.end() &&
        fast->second > *each.median_gbps) {
      set_factor(scenario.moving, each.message_class, *each.median_gbps / fast->second);
    }
  }
  return scenario;
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
  if (report.measure == Measure::exposed_communication) {
    figures.gpu_efficiency = gpu_efficiency_of(ranks, static_cast<double>(figures.observed_ns));
  }
  figures.path = path_of(graph, ranks, call_of_site);
  figures.what_if.push_back(
      {"free_communication", "messages cost nothing; ranks still wait for each other", free_ns});
  figures.what_if.push_back({"steady_wire", "every message as fast as the fastest twentieth of its kind",
                             graph.run(steady_wire(report))});
  const Scenario without_staging = straight(report);
  if (!without_staging.moving.empty()) {
    figures.what_if.push_back({"straight",
                               "what went through host memory goes straight, as others of its kind",
                               graph.run(without_staging)});
  }
  if (ranks.size() > 1) {
    figures.what_if.push_back(
        {"balanced", "every rank computes as long as the mean of all", graph.run(balanced(ranks))});
  }
  return figures;
}

}  // namespace penstock::analysis
