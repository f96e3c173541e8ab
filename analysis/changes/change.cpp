#include "analysis/changes/change.hpp"

#include <utility>
#include <vector>

namespace penstock::analysis {

IntervalSet busy_times(const RankTrace& trace, const ReplayGraph& graph) {
  std::vector<Interval> busy;
  for (const auto* list : {&trace.kernels, &trace.copies}) {
    for (const trace::DeviceActivity& each : *list) {
      if (each.own == 0) {  // a reduction's own kernel may end a little behind its call
        busy.push_back({graph.reference_ns(trace, each.begin_ns), graph.reference_ns(trace, each.end_ns)});
      }
    }
  }
  return IntervalSet::union_of(std::move(busy));
}

}  // namespace penstock::analysis
