#include "analysis/report/fail_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>

#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {
namespace {

constexpr std::string_view blanks = " \t";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) {
    return {};
  }
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

double ns_of(std::string_view unit) {
  return unit == "s" ? 1e9 : unit == "ms" ? 1e6 : 1e3;
}

std::string figures_allowed() {
  std::string names = "exposed, overlap";
  for (std::size_t i = 0; i < cause_count; ++i) {
    names += fmt::format(", {}", identifier_of(static_cast<Cause>(i)));
  }
  return names;
}

}  // namespace

std::optional<FailCondition> FailCondition::parse(std::string_view text, std::string& why) {
  FailCondition condition;
  condition.text_ = text;
  const std::size_t compare = text.find_first_of("<>");
  if (compare == std::string_view::npos) {
    why = fmt::format("\"{}\" has no comparison: write for example \"exposed > 10%\"", text);
    return std::nullopt;
  }
  condition.name_ = trimmed(text.substr(0, compare));
  std::replace_if(
      condition.name_.begin(), condition.name_.end(), [](char each) { return each == '-' || each == ' '; },
      '_');
  if (condition.name_ == "overlap") {
    condition.what_ = What::overlap;
  } else if (condition.name_ != "exposed") {
    condition.what_ = What::cause;
    std::size_t i = 0;
    while (i < cause_count && identifier_of(static_cast<Cause>(i)) != condition.name_) {
      ++i;
    }
    if (i == cause_count) {
      why = fmt::format("\"{}\" is not a figure; figures: {}", condition.name_, figures_allowed());
      return std::nullopt;
    }
    condition.cause_ = static_cast<Cause>(i);
  }

  std::size_t behind = compare + 1;
  condition.operator_ = text[compare];
  if (behind < text.size() && text[behind] == '=') {
    condition.operator_ += '=';
    ++behind;
  }
  const std::string_view value = trimmed(text.substr(behind));
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), condition.limit_);
  condition.unit_ = trimmed(value.substr(static_cast<std::size_t>(end - value.data())));
  if (condition.unit_ == "µs") {
    condition.unit_ = "us";
  }
  const bool is_unit = condition.unit_ == "%" ||
                       (condition.what_ != What::overlap &&
                        (condition.unit_ == "s" || condition.unit_ == "ms" || condition.unit_ == "us"));
  if (error != std::errc{} || !std::isfinite(condition.limit_) || condition.limit_ < 0 || !is_unit) {
    why = fmt::format("\"{}\" is not a limit: give a number and {}", value,
                      condition.what_ == What::overlap ? "%" : "%, s, ms or us");
    return std::nullopt;
  }
  return condition;
}

std::optional<double> FailCondition::figure(const Report& report) const {
  if (report.measure != Measure::exposed_communication || report.counted_ranks == 0 || report.recorded_part ||
      !report.missing_step.empty()) {
    return std::nullopt;
  }
  const std::optional<double> figure = what_ == What::overlap ? overlap(report) : time(report);
  return figure && is_beyond_kernels(*figure, report) ? std::nullopt : figure;
}

std::optional<double> FailCondition::overlap(const Report& report) const {
  std::uint64_t communication_ns = 0;
  std::uint64_t hidden_ns = 0;
  for (const RankFigures& rank : report.ranks) {
    communication_ns += rank.is_counted ? rank.communication_ns : 0;
    hidden_ns += rank.is_counted ? rank.hidden_ns : 0;
  }
  return communication_ns == 0
             ? std::nullopt
             : std::optional(100.0 * static_cast<double>(hidden_ns) / static_cast<double>(communication_ns));
}

std::optional<double> FailCondition::time(const Report& report) const {
  if ((unit_ == "%" && report.total_ns == 0) || is_beyond_clocks(report)) {
    return std::nullopt;
  }
  return in_unit(
      static_cast<double>(what_ == What::exposed ? report.counted_ns
                                                 : report.by_cause[static_cast<std::size_t>(cause_)]),
      report);
}

/// Returns true if kernels that CUPTI lost leave the condition undecided: they would have hidden more.
bool FailCondition::is_beyond_kernels(double figure, const Report& report) const {
  return std::any_of(
             report.ranks.begin(), report.ranks.end(),
             [](const RankFigures& rank) { return rank.is_counted && rank.dropped_gpu_records != 0; }) &&
         holds(figure) != holds(what_ == What::overlap ? 100 : 0);
}

double FailCondition::in_unit(double time_ns, const Report& report) const noexcept {
  return unit_ == "%" ? 100.0 * time_ns / static_cast<double>(report.total_ns)
                      : time_ns / static_cast<double>(report.counted_ranks) / ns_of(unit_);
}

/// Returns true if the clocks' error leaves the condition undecided. Time within that error may belong to
/// another cause: the figure may be lower by its own part, or higher by that of all others.
bool FailCondition::is_beyond_clocks(const Report& report) const {
  if (what_ != What::cause) {
    return false;
  }
  const auto cause = static_cast<std::size_t>(cause_);
  const auto time_ns = static_cast<double>(report.by_cause[cause]);
  const auto own_ns = static_cast<double>(report.within_error[cause]);
  const auto all_ns = static_cast<double>(
      std::accumulate(report.within_error.begin(), report.within_error.end(), std::uint64_t{0}));
  return holds(in_unit(time_ns - own_ns, report)) != holds(in_unit(time_ns + all_ns - own_ns, report));
}

std::string FailCondition::why_unknown(const Report& report) const {
  if (report.recorded_part) {
    return recorded_part_text(*report.recorded_part);
  }
  if (!report.missing_step.empty()) {
    return fmt::format("no NVTX range \"{}\" was recorded", report.missing_step);
  }
  if (!report.why_not_exposed.empty() || report.counted_ranks == 0 || report.total_ns == 0) {
    return report.why_not_exposed;
  }
  if (is_beyond_clocks(report)) {
    return "it is within the error of the hosts' clocks";
  }
  const std::optional<double> figure = what_ == What::overlap ? overlap(report) : time(report);
  return figure && is_beyond_kernels(*figure, report) ? "records of the GPU were lost" : "";
}

bool FailCondition::holds(double figure) const noexcept {
  if (operator_ == ">") {
    return figure > limit_;
  }
  if (operator_ == ">=") {
    return figure >= limit_;
  }
  return operator_ == "<" ? figure < limit_ : figure <= limit_;
}

std::string FailCondition::describe(double figure) const {
  return fmt::format("{} is {:.4g} {}; it fails if {} {:.4g} {}", name_, figure, unit_, operator_, limit_,
                     unit_);
}

}  // namespace penstock::analysis
