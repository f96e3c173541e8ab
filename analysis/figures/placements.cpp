#include "analysis/figures/placements.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "analysis/tables/number.hpp"

namespace penstock::analysis {

void Placements::add(const RankInput& rank) {
  PlacementFigures placement;
  for (const trace::Fact& each : rank.trace.facts) {
    const std::string& name = rank.trace.strings.at(each.name);
    const std::string& value = rank.trace.strings.at(each.value);
    if (name == "cores") placement.cores = value;
    if (name == "gpu") placement.gpus.push_back(value);
    if (name == "visible_gpus") placement.visible_gpus = number_in<std::uint64_t>(value).value_or(0);
  }
  if (placement.cores.empty() && placement.gpus.empty()) return;
  placement.rank = rank.trace.header.world_rank;
  placement.host = rank.trace.header.host_name;
  ranks_.push_back(std::move(placement));
}

void Placements::finish(Report& report, SiteNames&) {
  std::sort(ranks_.begin(), ranks_.end(), [](const PlacementFigures& left, const PlacementFigures& right) {
    return left.rank < right.rank;
  });
  report.placement = std::move(ranks_);
}

}  // namespace penstock::analysis
