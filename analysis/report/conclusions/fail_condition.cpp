#include "analysis/report/conclusions/fail_condition.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <numeric>

#include "analysis/report/conclusions/efficiency_names.hpp"
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

template <typename Row, std::size_t count>
std::optional<std::size_t> row_of(const Row (&rows)[count], std::string_view name) {
  const auto found =
      std::find_if(std::begin(rows), std::end(rows), [&](const Row& each) { return each.name == name; });
  return found == std::end(rows) ? std::nullopt
                                 : std::optional(static_cast<std::size_t>(found - std::begin(rows)));
}

std::string figures_allowed() {
  std::string names = "step, exposed, overlap";
  for (std::size_t i = 0; i < part_count; ++i) {
    names += fmt::format(", {}", identifier_of(static_cast<TimePart>(i)));
  }
  for (const auto& each : efficiencies) {
    names += fmt::format(", {}", each.name);
  }
  for (const auto& each : gpu_efficiencies) {
    names += fmt::format(", {}", each.name);
  }
  return names;
}

std::optional<TimePart> part_named(std::string_view name) {
  for (std::size_t i = 0; i < part_count; ++i) {
    if (identifier_of(static_cast<TimePart>(i)) == name) {
      return static_cast<TimePart>(i);
    }
  }
  return name == "staging" ? std::optional(TimePart::staging_by_hand) : std::nullopt;
}

}  // namespace

/// Finds the figure by its name. Returns false if there is none.
bool FailCondition::find(std::string_view name) {
  if (const std::optional<TimePart> part = part_named(name)) {
    what_ = What::part;
    part_ = *part;
  } else if (const std::optional<std::size_t> row = row_of(efficiencies, name)) {
    what_ = What::efficiency;
    row_ = *row;
  } else if (const std::optional<std::size_t> of_gpu = row_of(gpu_efficiencies, name)) {
    what_ = What::gpu_efficiency;
    row_ = *of_gpu;
  } else if (name == "step" || name == "exposed" || name == "overlap") {
    what_ = name == "step" ? What::step : name == "exposed" ? What::exposed : What::overlap;
  } else {
    return false;
  }
  return true;
}

bool FailCondition::is_share_only() const noexcept {
  return what_ == What::overlap || what_ == What::efficiency || what_ == What::gpu_efficiency;
}

std::string_view FailCondition::units_allowed() const noexcept {
  return is_share_only()                         ? "%"
         : what_ == What::step && !is_of_change_ ? "s, ms or us (or +5% against an earlier run)"
                                                 : "%, s, ms or us";
}

bool FailCondition::is_unit_allowed() const noexcept {
  const bool is_time = unit_ == "s" || unit_ == "ms" || unit_ == "us";
  return unit_ == "%" ? what_ != What::step || is_of_change_ : is_time && !is_share_only();
}

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
  if (!condition.find(condition.name_)) {
    why = fmt::format("\"{}\" is not a figure; figures: {}", condition.name_, figures_allowed());
    return std::nullopt;
  }

  std::size_t behind = compare + 1;
  condition.operator_ = text[compare];
  if (behind < text.size() && text[behind] == '=') {
    condition.operator_ += '=';
    ++behind;
  }
  const std::string_view value = trimmed(text.substr(behind));
  condition.is_of_change_ = value.starts_with('+');
  if (condition.is_of_change_ && condition.is_share_only()) {
    why = fmt::format("\"{}\" is not a limit: {} is compared with no earlier run, only times are", value,
                      condition.name_);
    return std::nullopt;
  }
  const std::string_view number = value.substr(condition.is_of_change_ ? 1 : 0);
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), condition.limit_);
  condition.unit_ = trimmed(number.substr(static_cast<std::size_t>(end - number.data())));
  if (condition.unit_ == "µs") {
    condition.unit_ = "us";
  }
  if (error != std::errc{} || !std::isfinite(condition.limit_) || condition.limit_ < 0 ||
      !condition.is_unit_allowed()) {
    why = fmt::format("\"{}\" is not a limit: give a number and {}", value, condition.units_allowed());
    return std::nullopt;
  }
  return condition;
}

std::optional<double> FailCondition::figure(const Report& report) const {
  if (is_of_change_ || !what_is_missing(report).empty() || report.counted_ranks == 0 ||
      !report.missing_step.empty()) {
    return std::nullopt;
  }
  const std::optional<double> figure = value(report);
  const bool is_undecided =
      figure && (is_beyond_kernels(*figure, report) || is_beyond_launches(*figure, report));
  return is_undecided ? std::nullopt : figure;
}

std::optional<double> FailCondition::value(const Report& report) const {
  switch (what_) {
    case What::overlap:
      return overlap(report);
    case What::efficiency:
    case What::gpu_efficiency:
      return efficiency(report);
    default:
      return time(report);
  }
}

std::optional<double> FailCondition::overlap(const Report& report) const {
  std::uint64_t communication_ns = 0;
  std::uint64_t hidden_ns = 0;
  for (const RankFigures& rank : report.ranks) {
    communication_ns += rank.is_counted ? rank.communication_ns : 0;
    hidden_ns += rank.is_counted ? rank.hidden_ns : 0;
  }
  return communication_ns == 0 || !counts_exposed(report)
             ? std::nullopt
             : std::optional(100.0 * static_cast<double>(hidden_ns) / static_cast<double>(communication_ns));
}

std::optional<double> FailCondition::efficiency(const Report& report) const {
  if (!report.replay || (what_ == What::gpu_efficiency && !report.replay->gpu_efficiency)) {
    return std::nullopt;
  }
  return 100 * (what_ == What::efficiency ? report.replay->efficiency.*efficiencies[row_].figure
                                          : (*report.replay->gpu_efficiency).*gpu_efficiencies[row_].figure);
}

std::optional<double> FailCondition::time(const Report& report) const {
  if (what_ == What::step) {
    return has_steps(report) ? std::optional(in_unit(static_cast<double>(report.total_ns), report) /
                                             static_cast<double>(report.steps->each.size()))
                             : std::nullopt;
  }
  if ((unit_ == "%" && report.total_ns == 0) || is_beyond_clocks(report)) {
    return std::nullopt;
  }
  const bool is_exposed = counts_exposed(report);
  const std::optional<Cause> cause = cause_of(part_);
  std::optional<std::uint64_t> time_ns;
  if (what_ == What::part && (report.parts || !cause)) {
    time_ns = report.parts ? std::optional(time_of(*report.parts, part_)) : std::nullopt;
  } else if (is_exposed) {
    time_ns =
        what_ == What::exposed ? communication_ns(report) : report.by_cause[static_cast<std::size_t>(*cause)];
  }
  return time_ns ? std::optional(in_unit(static_cast<double>(*time_ns), report)) : std::nullopt;
}

/// Returns what the figure may be with the kernels and copies that CUPTI lost: they would have hidden more of
/// all else.
FailCondition::Bounds FailCondition::without_lost_kernels(double figure, const Report& report) const {
  const double whole = unit_ == "%" ? 100 : in_unit(static_cast<double>(report.total_ns), report);
  switch (what_) {
    case What::step:
      return {figure, figure};
    case What::overlap:
      return {figure, whole};
    case What::efficiency:
    case What::gpu_efficiency:
      return {0, whole};
    default:
      break;
  }
  const bool may_be_more =
      what_ == What::part &&
      (part_ == TimePart::kernels || part_ == TimePart::nccl || part_ == TimePart::staging_by_hand ||
       part_ == TimePart::other_copies || part_ == TimePart::kernel_launch);
  return {part_ == TimePart::kernels && what_ == What::part ? figure : 0, may_be_more ? whole : figure};
}

/// Returns true if records that CUPTI lost leave the condition undecided.
bool FailCondition::is_beyond_kernels(double figure, const Report& report) const {
  if (!lost_gpu_records(report)) {
    return false;
  }
  const Bounds bounds = without_lost_kernels(figure, report);
  return holds(bounds.low) != holds(figure) || holds(bounds.high) != holds(figure);
}

/// Returns true if it is undecided where it is not known when kernels were launched: their launches are
/// counted as host code or CUDA synchronisation then.
bool FailCondition::is_beyond_launches(double figure, const Report& report) const {
  if (what_ != What::part || !depends_on_launch_times(part_) || !report.parts ||
      !lacks_launch_times(report)) {
    return false;
  }
  if (part_ != TimePart::kernel_launch) {
    return holds(0) != holds(figure);
  }
  const std::uint64_t all_ns = time_of(*report.parts, TimePart::kernel_launch) +
                               time_of(*report.parts, TimePart::host_code) +
                               time_of(*report.parts, TimePart::cuda_synchronisation);
  return holds(in_unit(static_cast<double>(all_ns), report)) != holds(figure);
}

double FailCondition::in_unit(double time_ns, const Report& report) const noexcept {
  return unit_ == "%" ? 100.0 * time_ns / static_cast<double>(report.total_ns)
                      : time_ns / static_cast<double>(report.counted_ranks) / ns_of(unit_);
}

double FailCondition::change_in_unit(double before_ns, double after_ns) const noexcept {
  const double change_ns = after_ns - before_ns;
  return unit_ != "%" ? change_ns / ns_of(unit_) : change_ns == 0 ? 0 : 100 * change_ns / before_ns;
}

/// Returns true if the clocks' error leaves the condition undecided. Time within that error may belong to
/// another cause: the figure may be lower by its own part, or higher by that of all others.
bool FailCondition::is_beyond_clocks(const Report& report) const {
  const std::optional<Cause> of = what_ == What::part ? cause_of(part_) : std::nullopt;
  if (!of) {
    return false;
  }
  const auto cause = static_cast<std::size_t>(*of);
  const auto time_ns = static_cast<double>(report.by_cause[cause]);
  const auto own_ns = static_cast<double>(report.within_error[cause]);
  const auto all_ns = static_cast<double>(
      std::accumulate(report.within_error.begin(), report.within_error.end(), std::uint64_t{0}));
  return holds(in_unit(time_ns - own_ns, report)) != holds(in_unit(time_ns + all_ns - own_ns, report));
}

std::string FailCondition::why_unknown(const Report& report) const {
  if (std::string missing = what_is_missing(report); !missing.empty()) {
    return missing;
  }
  if (!report.missing_step.empty()) {
    return fmt::format("no NVTX range \"{}\" was recorded", report.missing_step);
  }
  if (report.counted_ranks == 0 || report.total_ns == 0) {
    return report.why_not_exposed.empty() ? "no time of any rank could be counted" : report.why_not_exposed;
  }
  if (what_ == What::step && !has_steps(report)) {
    return report.is_whole_run ? "the whole run is counted, not its steps" : "no steps were found";
  }
  if (what_ == What::efficiency || (what_ == What::gpu_efficiency && !report.replay)) {
    if (!report.replay) {
      return report.why_no_replay;
    }
  } else if (!report.why_not_exposed.empty() && what_ != What::step) {
    return report.why_not_exposed;
  }
  if (what_ == What::overlap && !overlap(report)) {
    return "there was no communication";
  }
  if (is_beyond_clocks(report)) {
    return "it is within the error of the hosts' clocks";
  }
  const std::optional<double> figure = value(report);
  if (figure && is_beyond_kernels(*figure, report)) {
    return "records of the GPU were lost";
  }
  return figure && is_beyond_launches(*figure, report) ? "when kernels were launched was not recorded" : "";
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

bool FailCondition::is_hidden_by(double jitter) const noexcept {
  return is_of_change_ && operator_.front() == '>' && limit_ > 0 && jitter > limit_;
}

std::string FailCondition::describe_hidden(double jitter) const {
  return fmt::format(
      "{} may differ by {:.4g} {} without a change, so that one of {:.4g} {} could not be seen", name_,
      jitter, unit_, limit_, unit_);
}

std::string FailCondition::name_in_diff() const {
  return what_ == What::part ? std::string(name_of(part_)) : name_;
}

std::string FailCondition::describe(double figure) const {
  return is_of_change_ ? fmt::format("{} changed by {:+.4g} {}; it fails if {} +{:.4g} {}", name_, figure,
                                     unit_, operator_, limit_, unit_)
                       : fmt::format("{} is {:.4g} {}; it fails if {} {:.4g} {}", name_, figure, unit_,
                                     operator_, limit_, unit_);
}

std::string FailCondition::describe_new(std::string_view now) const {
  return fmt::format("{} is new: 0 before, {} now; it fails if {} +{:.4g} {}", name_, now, operator_, limit_,
                     unit_);
}

}  // namespace penstock::analysis
