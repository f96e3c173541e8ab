#include <algorithm>
#include <utility>

#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {
namespace {

/// The number of step entries that a page can hold. Longer lists are joined, the same number of steps per
/// entry.
constexpr std::size_t most_step_entries = 2000;

Json outside_json(const OutsideFigures& outside) {
  return {{"total_s", seconds(outside.total_ns)}, {"counted_s", seconds(outside.counted_ns)}};
}

void add(const std::optional<TimeByPart>& some, std::optional<TimeByPart>& all) {
  if (some && !all) {
    all.emplace();
  }
  for (std::size_t i = 0; some && i < part_count; ++i) {
    (*all)[i] += (*some)[i];
  }
}

}  // namespace

Json of(const StepsFigures& steps) {
  const std::size_t per_entry = (steps.each.size() + most_step_entries - 1) / most_step_entries;
  Json entries = Json::array();
  for (std::size_t first = 0; first < steps.each.size(); first += per_entry) {
    StepFigures sum;
    const std::size_t end = std::min(first + per_entry, steps.each.size());
    for (std::size_t i = first; i < end; ++i) {
      const StepFigures& step = steps.each[i];
      sum.total_ns += step.total_ns;
      if (step.longest_ns >= sum.longest_ns) {
        sum.longest_ns = step.longest_ns;
        sum.longest_rank = step.longest_rank;
      }
      for (std::size_t cause = 0; cause < cause_count; ++cause) {
        sum.by_cause[cause] += step.by_cause[cause];
      }
      add(step.parts, sum.parts);
    }
    entries.push_back({{"first", first},
                       {"steps", end - first},
                       {"total_s", seconds(sum.total_ns)},
                       {"longest_s", seconds(sum.longest_ns)},
                       {"longest_rank", sum.longest_rank},
                       {"by_cause_s", seconds_by_cause(sum.by_cause)},
                       {"parts_s", seconds_by_part(sum.parts)}});
  }
  return {{"mark", steps.mark},
          {"mark_is_nvtx_range", steps.is_range},
          {"count", steps.each.size()},
          {"median_s", seconds(steps.median_ns)},
          {"start_up", outside_json(steps.before)},
          {"shutdown", outside_json(steps.behind)},
          {"each", std::move(entries)}};
}

}  // namespace penstock::analysis::json
