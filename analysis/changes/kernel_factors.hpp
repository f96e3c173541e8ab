// What the user asks: how long would the job take if some kernels were faster, slower or left out? Must not
// know how that is asked or answered.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analysis/changes/change.hpp"
#include "analysis/replay/replay_graph.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Notes which kernels are meant, rank by rank. Memory: four bytes for each kernel that is meant.
class KernelFactors {
 public:
  /// Call it before any rank is added.
  void ask(const std::vector<KernelFactor>& factors) {
    for (const KernelFactor& each : factors) asked_.push_back({each});
  }
  void add(const GraphRank& rank);
  /// Returns one answer for each that was asked and means a kernel, in this order. `graph`: joined.
  [[nodiscard]] std::vector<WhatIfFigures> answers(ReplayGraph& graph) const;
  /// Returns why the others have no answer, a line each.
  [[nodiscard]] std::vector<std::string> why_not_answered() const;

 private:
  struct Asked {
    [[nodiscard]] bool means(const GraphRank& rank, const RankLayout::Kernel& kernel);

    KernelFactor of;
    std::vector<NodeId> kernels = {};
    std::unordered_map<std::uint32_t, bool> is_meant = {};  ///< by the number of a name
  };
  std::vector<Asked> asked_;
};

}  // namespace penstock::analysis
