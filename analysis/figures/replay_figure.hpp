// Runs the job again with other weights, if it is small enough. Must not know how that is done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/changes/changes.hpp"
#include "analysis/changes/kernel_factors.hpp"
#include "analysis/figures/figure.hpp"
#include "analysis/replay/replay_graph.hpp"
#include "analysis/tables/string_pool.hpp"

namespace penstock::analysis {

/// The graph of a job cannot be merged from parts: the whole gets all ranks once more, in order.
class ReplayFigure {
 public:
  explicit ReplayFigure(const FigureContext& context);
  /// Asks what would be if kernels took another time. Call it before.
  void ask(const std::vector<KernelFactor>& factors) { kernel_factors_.ask(factors); }
  /// Counts what the graph would hold.
  void add(const RankInput& rank);
  auto members() { return std::tie(nodes_); }
  /// Returns true if the job is small enough. Call it after all ranks are merged.
  [[nodiscard]] bool can_replay();
  /// Adds a rank to the graph. `sites`: this object's number for each site of the rank's part.
  void add_to_graph(RankWindow& window, std::span<const std::uint32_t> sites);
  void finish(Report& report, SiteNames& names);

 private:
  void give_up(std::string why);
  void try_changes(Report& report, SiteNames& names);

  std::uint64_t nodes_ = 0;           ///< calls that begin and end, and kernels, of the counted ranks
  std::optional<ReplayGraph> graph_;  ///< none: it cannot be made
  const MessageIndex& index_;
  SiteTable& sites_;
  std::vector<std::int32_t> ranks_in_graph_;  ///< their numbers, by position
  StringPool names_;                          ///< of kernels and ranges
  Changes changes_;
  KernelFactors kernel_factors_;
  std::string why_not_;
};

}  // namespace penstock::analysis
