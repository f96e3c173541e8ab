// A condition on a report, for continuous integration: "exposed > 10%", "step > +5%". Must not know the
// command line, nor how a report is compared with an earlier one.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// FIGURE OPERATOR NUMBER UNIT, with spaces or hyphens for a figure's underscores; operators: > >= < <=.
///
///   step                               ms, us, s: the mean time of a step on the average rank
///   exposed, causes, parts of the time %: of the counted time; ms, us, s: of the average rank in all of it
///   overlap, efficiencies              %
///
/// Causes and parts are named as in the JSON; "staging" is staging by hand. A number with a plus sign is a
/// change against an earlier run, of times alone: % of that run's time, or ms, us, s of a step (of the run,
/// if there are no steps).
class FailCondition {
 public:
  /// Parses a condition. Returns nullopt on a syntax error; `why` then lists what is allowed.
  [[nodiscard]] static std::optional<FailCondition> parse(std::string_view text, std::string& why);

  /// Returns the report's value in the condition's unit; nullopt if it is unknown, or if the hosts' clocks
  /// are too far off to decide the condition, or if records are missing. Not for a change.
  [[nodiscard]] std::optional<double> figure(const Report& report) const;
  /// Returns why a figure is unknown.
  [[nodiscard]] std::string why_unknown(const Report& report) const;
  [[nodiscard]] bool holds(double figure) const noexcept;
  /// Returns "exposed is 12.3 %; it fails if > 10 %".
  [[nodiscard]] std::string describe(double figure) const;
  /// Returns "late_sender is new: 0 before, 97.4 us a step now; it fails if > +5 %", as there is no
  /// percentage of nothing.
  [[nodiscard]] std::string describe_new(std::string_view now) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

  /// Returns true for a limit of a change, other than 0, that jitter alone exceeds.
  [[nodiscard]] bool is_hidden_by(double jitter) const noexcept;
  /// Returns "step may differ by 40.5 % without a change, so that one of 5 % could not be seen".
  [[nodiscard]] std::string describe_hidden(double jitter) const;

  [[nodiscard]] bool is_of_change() const noexcept { return is_of_change_; }
  [[nodiscard]] bool is_of_step() const noexcept { return what_ == What::step; }
  /// Returns the part of the time that it is about, if it is about one.
  [[nodiscard]] std::optional<TimePart> part() const noexcept {
    return what_ == What::part ? std::optional(part_) : std::nullopt;
  }
  /// Returns how a comparison of reports names this figure: "step", "exposed", or the name of a part.
  [[nodiscard]] std::string name_in_diff() const;
  /// Returns a change in the condition's unit.
  [[nodiscard]] double change_in_unit(double before_ns, double after_ns) const noexcept;

 private:
  enum class What : std::uint8_t { step, exposed, overlap, part, efficiency, gpu_efficiency };
  struct Bounds {
    double low;
    double high;
  };
  [[nodiscard]] bool find(std::string_view name);
  [[nodiscard]] bool is_share_only() const noexcept;
  [[nodiscard]] std::string_view units_allowed() const noexcept;
  [[nodiscard]] bool is_unit_allowed() const noexcept;
  [[nodiscard]] std::optional<double> value(const Report& report) const;
  [[nodiscard]] double in_unit(double time_ns, const Report& report) const noexcept;
  [[nodiscard]] std::optional<double> overlap(const Report& report) const;
  [[nodiscard]] std::optional<double> efficiency(const Report& report) const;
  [[nodiscard]] std::optional<double> time(const Report& report) const;
  [[nodiscard]] Bounds without_lost_kernels(double figure, const Report& report) const;
  [[nodiscard]] bool is_beyond_clocks(const Report& report) const;
  [[nodiscard]] bool is_beyond_kernels(double figure, const Report& report) const;
  [[nodiscard]] bool is_beyond_launches(double figure, const Report& report) const;

  std::string text_;
  std::string name_;
  What what_ = What::exposed;
  TimePart part_ = TimePart::unattributed;
  std::size_t row_ = 0;  ///< of an efficiency
  std::string operator_;
  std::string unit_;
  double limit_ = 0;
  bool is_of_change_ = false;
};

}  // namespace penstock::analysis
