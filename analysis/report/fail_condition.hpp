// A condition on a report, for continuous integration: "exposed > 10%". Must not know the command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// FIGURE OPERATOR NUMBER UNIT. Figures: "exposed", "overlap", or a cause as in the JSON ("late_sender"),
/// with spaces or hyphens for its underscores; operators: > >= < <=; units: % (of the counted time; of
/// communication for overlap), or s, ms, us of the average rank.
class FailCondition {
 public:
  /// Parses a condition. Returns nullopt on a syntax error; `why` then lists what is allowed.
  [[nodiscard]] static std::optional<FailCondition> parse(std::string_view text, std::string& why);

  /// Returns the report's value in the condition's unit; nullopt if it is unknown, or if the hosts' clocks
  /// are too far off to decide the condition, or if records are missing.
  [[nodiscard]] std::optional<double> figure(const Report& report) const;
  /// Returns why a figure is unknown.
  [[nodiscard]] std::string why_unknown(const Report& report) const;
  [[nodiscard]] bool holds(double figure) const noexcept;
  /// Returns "exposed is 12.3 %: fails for > 10 %".
  [[nodiscard]] std::string describe(double figure) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  [[nodiscard]] double in_unit(double time_ns, const Report& report) const noexcept;
  [[nodiscard]] std::optional<double> overlap(const Report& report) const;
  [[nodiscard]] std::optional<double> time(const Report& report) const;
  [[nodiscard]] bool is_beyond_clocks(const Report& report) const;
  [[nodiscard]] bool is_beyond_kernels(double figure, const Report& report) const;

  enum class What : std::uint8_t { exposed, overlap, cause };
  std::string text_;
  std::string name_;
  What what_ = What::exposed;
  Cause cause_ = Cause::unattributed;
  std::string operator_;
  std::string unit_;
  double limit_ = 0;
};

}  // namespace penstock::analysis
