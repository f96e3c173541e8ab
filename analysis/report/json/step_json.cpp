#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>
#include <vector>

#include "analysis/report/json/json_parts.hpp"

namespace penstock::analysis::json {
namespace {

/// The number of step entries that a page can hold. Longer lists are joined, the same number of steps per
/// entry.
constexpr std::size_t most_step_entries = 2000;

/// The number of steps that are listed one by one since they took longest.
constexpr std::size_t most_slow_steps = 20;

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

Json entry_json(std::size_t first, std::size_t steps, const StepFigures& sum) {
  return {{"first", first},
          {"steps", steps},
          {"total_s", seconds(sum.total_ns)},
          {"longest_s", seconds(sum.longest_ns)},
          {"longest_rank", sum.longest_rank},
          {"by_cause_s", seconds_by_cause(sum.by_cause)},
          {"parts_s", seconds_by_part(sum.parts)}};
}

/// Returns single steps, longest first.
Json slowest_json(const std::vector<StepFigures>& each) {
  std::vector<std::size_t> order(each.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const std::size_t shown = std::min(each.size(), most_slow_steps);
  std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(shown), order.end(),
                    [&](std::size_t left, std::size_t right) {
                      return std::tie(each[right].longest_ns, left) < std::tie(each[left].longest_ns, right);
                    });
  order.resize(shown);
  Json slowest = Json::array();
  for (const std::size_t step : order) {
    slowest.push_back(entry_json(step, 1, each[step]));
  }
  return slowest;
}

}  // namespace

Json of(const StepsEfficiency& steps) {
  return {{"first", steps.first},
          {"steps", steps.steps},
          {"total_s", seconds(steps.total_ns)},
          {"efficiency", of(steps.efficiency)}};
}

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
    entries.push_back(entry_json(first, end - first, sum));
  }
  return {{"mark", steps.mark},
          {"mark_is_nvtx_range", steps.is_range},
          {"count", steps.each.size()},
          {"median_s", seconds(steps.median_ns)},
          {"run_to_run_s", steps.run_to_run_ns ? Json(seconds(*steps.run_to_run_ns)) : Json(nullptr)},
          {"start_up", outside_json(steps.before)},
          {"shutdown", outside_json(steps.behind)},
          {"each", std::move(entries)},
          {"slowest", slowest_json(steps.each)},
          {"efficiency_over_time", list_of(steps.efficiency_over_time)}};
}

}  // namespace penstock::analysis::json
