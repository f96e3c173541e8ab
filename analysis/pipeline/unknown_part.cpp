#include "analysis/pipeline/unknown_part.hpp"

#include <algorithm>

namespace penstock::analysis {
namespace {

bool has_records(const RankFigures& rank) {
  return rank.communication_ns != 0 || rank.gpu_busy_ns != 0 || rank.cuda_synchronisation_ns != 0;
}

/// Steps and phases are NVTX ranges or calls that were recorded.
bool lacks_all_records(const Report& report) {
  return report.recorded_part && !report.recorded_part->is_window && !report.steps && report.phases.empty() &&
         report.functions.empty() && std::none_of(report.ranks.begin(), report.ranks.end(), has_records);
}

void forget(RankFigures& rank) {
  rank.total_ns = 0;
  rank.computing_ns = 0;
  rank.parts.reset();
}

}  // namespace

void forget_part_without_records(Report& report) {
  if (!lacks_all_records(report)) {
    return;
  }
  report.total_ns = 0;
  report.parts.reset();
  report.host_code.clear();
  report.replay.reset();
  report.why_no_replay = "nothing is recorded in the part that is known of all ranks";
  std::for_each(report.ranks.begin(), report.ranks.end(), forget);
}

}  // namespace penstock::analysis
