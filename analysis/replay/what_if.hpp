// Runs a job's graph with other weights: efficiencies, the longest path, and what would be gained. Must not
// know records.
#pragma once

#include <functional>
#include <string>

#include "analysis/replay/replay_graph.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// `graph`: joined, of the report's counted ranks in their order. `call_of_site`: formats function and place
/// for people.
[[nodiscard]] ReplayFigures replay(ReplayGraph& graph, const Report& report,
                                   const std::function<std::string(std::uint32_t)>& call_of_site);

}  // namespace penstock::analysis
