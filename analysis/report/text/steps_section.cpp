#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report/text/sections.hpp"

namespace penstock::analysis {
namespace {

std::string outside_text(const ReportWriter& out, const char* name, const OutsideFigures& outside) {
  return fmt::format("{} {} ({} {})", name, time_text(static_cast<double>(outside.total_ns) / out.ranks),
                     time_text(static_cast<double>(outside.counted_ns) / out.ranks),
                     out.is_exposed ? "exposed" : "in MPI");
}

}  // namespace

/// Prints what was counted and what was not.
void write_steps(ReportWriter& out) {
  if (!has_steps(out.report)) {
    return;
  }
  const StepsFigures& steps = *out.report.steps;
  std::string text = fmt::format("{} steps ({} {}), median {}", count_text(steps.each.size()),
                                 steps.is_range ? "NVTX range" : "from", printable(steps.mark),
                                 time_text(static_cast<double>(steps.median_ns)));
  const auto slowest = std::max_element(
      steps.each.begin(), steps.each.end(),
      [](const StepFigures& left, const StepFigures& right) { return left.longest_ns < right.longest_ns; });
  text +=
      fmt::format(", longest {} (step {} on rank {}).", time_text(static_cast<double>(slowest->longest_ns)),
                  slowest - steps.each.begin() + 1, slowest->longest_rank);
  std::vector<std::string> outside;
  const std::optional<RecordedPart>& part = out.report.recorded_part;
  if (!part || !part->lacks_begin()) {
    outside.push_back(outside_text(out, "start-up", steps.before));
  }
  if (!part || !part->lacks_end()) {
    outside.push_back(outside_text(out, "shutdown", steps.behind));
  }
  if (!outside.empty()) {
    text += fmt::format(" Not counted: {}.", fmt::join(outside, "; "));
  }
  out.line();
  out.dim_lines(text);
}

}  // namespace penstock::analysis
