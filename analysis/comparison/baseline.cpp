#include "analysis/comparison/baseline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analysis/comparison/circumstances.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

/// Returns why a report's times cannot be compared; empty if they can.
std::string why_unusable(const Report& report, const std::string& which) {
  if (const std::string missing = what_is_missing(report); !missing.empty()) {
    return fmt::format("{}: {}", which, missing);
  }
  if (!report.missing_step.empty()) {
    return fmt::format("{} has no NVTX range \"{}\"", which, report.missing_step);
  }
  return report.counted_ranks == 0 ? which + " has no usable rank" : "";
}

}  // namespace

Baseline::Baseline(const Report& baseline, const Report& report, const std::string& name)
    : why_not_(why_unusable(baseline, name)),
      what_differs_(fmt::format("{}", fmt::join(circumstances_that_differ({baseline}, {report}), ", and "))),
      lost_gpu_records_(lost_gpu_records(baseline) || lost_gpu_records(report)),
      lacks_launch_times_(lacks_launch_times(baseline) != lacks_launch_times(report)) {
  if (why_not_.empty()) {
    why_not_ = why_unusable(report, "the recording");
  }
  if (why_not_.empty() && has_steps(baseline) != has_steps(report)) {
    why_not_ = "only one of the two recordings has steps";
  }
}

Baseline::Baseline(const Report& baseline, const Report& report)
    : Baseline(baseline, report, "the baseline") {
  if (why_not_.empty()) {
    diff_ = compare({baseline}, {report});
  }
}

Baseline::Baseline(const Report& before, const Report& report, Diff change)
    : Baseline(before, report, "the run before it") {
  diff_ = std::move(change);
  if (diff_.other_pairs == 0) {
    reservation_ =
        "judged by the variation within both runs alone; how far runs differ is known from three earlier "
        "ones on";
  }
}

const DiffRow* Baseline::row(const FailCondition& condition) const {
  const std::string name = condition.name_in_diff();
  for (const std::vector<DiffRow>* const rows : {&diff_.parts, &diff_.causes, &diff_.totals}) {
    const auto found =
        std::find_if(rows->begin(), rows->end(), [&](const DiffRow& each) { return each.name == name; });
    if (found != rows->end()) {
      return &*found;
    }
  }
  return nullptr;
}

std::string Baseline::why_not_comparable(const FailCondition& condition) const {
  if (!why_not_.empty()) {
    return why_not_;
  }
  if (condition.is_of_step()) {
    return diff_.is_by_step ? "" : "no steps were found that both have: name an NVTX range with --step";
  }
  if (lost_gpu_records_) {
    return "records of the GPU were lost";
  }
  return diff_.is_exposed ? "" : "the GPU's kernels are not known of both recordings";
}

std::optional<double> Baseline::change(const FailCondition& condition) const {
  if (!why_not_comparable(condition).empty()) {
    return std::nullopt;
  }
  const DiffRow* const found = row(condition);
  if (found == nullptr) {
    return 0;  // a part that is in neither of them
  }
  switch (found->verdict) {
    case Verdict::unknown:
      return std::nullopt;
    case Verdict::jitter:
      return 0;
    default:
      return condition.change_in_unit(found->before_ns, found->after_ns);
  }
}

std::string Baseline::describe(const FailCondition& condition, double change) const {
  if (!std::isinf(change)) {
    return condition.describe(change);
  }
  return condition.describe_new(
      fmt::format("{} a {}", time_text(row(condition)->after_ns), diff_.is_by_step ? "step" : "run"));
}

std::optional<double> Baseline::jitter(const FailCondition& condition) const {
  const DiffRow* const found = why_not_comparable(condition).empty() ? row(condition) : nullptr;
  if (found == nullptr || !found->margin_ns || found->before_ns == 0) {
    return std::nullopt;
  }
  return condition.change_in_unit(found->before_ns, found->before_ns + *found->margin_ns);
}

std::string Baseline::why_unknown(const FailCondition& condition) const {
  const std::string why = why_not_comparable(condition);
  if (!why.empty()) {
    return why;
  }
  const bool lacks_launches =
      condition.part() && depends_on_launch_times(*condition.part()) && lacks_launch_times_;
  return lacks_launches ? "when kernels were launched was not recorded in both"
                        : "too few steps to tell a change from jitter";
}

}  // namespace penstock::analysis
