#include "analysis/changes/kernel_balance.hpp"

#include <algorithm>
#include <utility>

#include "analysis/recording/symbol_names.hpp"

namespace penstock::analysis {

void KernelBalance::add(const GraphRank& rank) {
  ranks_.resize(std::max(ranks_.size(), rank.position + 1));
  OfRank& own = ranks_[rank.position];
  for (const RankLayout::Kernel& each : rank.layout.kernels) {
    const std::uint64_t time_ns = rank.graph.work_ns(each.node);
    own.total_ns += time_ns;
    own.by_name[rank.kernel_name(each)] += time_ns;
  }
}

void KernelBalance::propose(const Trial& trial) const {
  if (ranks_.size() < 2) {
    return;
  }
  const auto most = std::max_element(
      ranks_.begin(), ranks_.end(),
      [](const OfRank& left, const OfRank& right) { return left.total_ns < right.total_ns; });
  std::uint64_t sum_ns = 0;
  std::map<std::uint32_t, std::uint64_t> sum_by_name;
  for (const OfRank& each : ranks_) {
    sum_ns += each.total_ns;
    for (const auto& [name, time_ns] : each.by_name) {
      sum_by_name[name] += time_ns;
    }
  }
  const std::uint64_t mean_ns = sum_ns / ranks_.size();
  if (most->total_ns - mean_ns < trial.least_ns() || mean_ns == 0) {
    return;
  }
  Scenario scenario;
  for (const OfRank& each : ranks_) {
    scenario.kernels.push_back(
        each.total_ns == 0 ? 1.0 : static_cast<double>(mean_ns) / static_cast<double>(each.total_ns));
  }
  ChangeFigures change{.kind = AdviceKind::balance_ranks};
  std::uint64_t largest_excess_ns = 0;
  for (const auto& [name, time_ns] : most->by_name) {
    const std::uint64_t usual_ns = sum_by_name[name] / ranks_.size();
    if (time_ns > usual_ns && time_ns - usual_ns > largest_excess_ns) {
      largest_excess_ns = time_ns - usual_ns;
      change.kernel = readable_symbol(trial.names.at(name));
    }
  }
  change.rank = trial.ranks[static_cast<std::size_t>(most - ranks_.begin())];
  change.time_ns = most->total_ns;
  change.others_ns = mean_ns;
  trial.keep(trial.saved_ns(scenario), std::move(change));
}

}  // namespace penstock::analysis
