#include "analysis/comparison/common_steps.hpp"

#include <algorithm>
#include <string_view>

namespace penstock::analysis {
namespace {

/// Returns what begins a report's steps, without its place in a source file; empty if it has no steps.
std::string_view mark_of(const Report& report) {
  if (!report.steps) {
    return {};
  }
  const std::string_view mark = report.steps->mark;
  return report.steps->is_range ? mark : mark.substr(0, mark.find(" ("));
}

bool is_range(const Report& report) {
  return report.steps && report.steps->is_range;
}

}  // namespace

CommonSteps common_steps(std::span<const Report* const> reports) {
  const auto all = [reports](auto condition) {
    return std::all_of(reports.begin(), reports.end(), [&](const Report* each) { return condition(*each); });
  };
  if (reports.empty() || all([first = reports.front()](const Report& each) {
        return mark_of(each) == mark_of(*first) && is_range(each) == is_range(*first);
      })) {
    return {};
  }
  CommonSteps steps{.are_alike = false};
  for (const Report* const each : reports) {
    if (is_range(*each) &&
        std::find(steps.ranges.begin(), steps.ranges.end(), each->steps->mark) == steps.ranges.end()) {
      steps.ranges.push_back(each->steps->mark);
    }
  }
  return steps;
}

}  // namespace penstock::analysis
