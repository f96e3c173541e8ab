// A condition on a report, as continuous integration asks for it: "exposed > 10%". Knows no command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// FIGURE OPERATOR NUMBER UNIT. Figures: "exposed", "overlap", or a cause as in the JSON ("late_sender"),
/// blanks and hyphens for its underlines; operators: > >= < <=; units: % (of the counted time; of
/// communication for overlap), or s, ms, us of the average rank.
class FailCondition {
 public:
  /// None when it cannot be read; `why` then says what is allowed.
  [[nodiscard]] static std::optional<FailCondition> parse(std::string_view text, std::string& why);

  /// What the report has for it, in the condition's unit; none when it cannot be told, or the hosts' clocks
  /// are too far off to tell whether it holds.
  [[nodiscard]] std::optional<double> figure(const Report& report) const;
  /// Of a figure that there is none of.
  [[nodiscard]] std::string why_unknown(const Report& report) const;
  [[nodiscard]] bool holds(double figure) const noexcept;
  /// "exposed is 12.3 %: fails for > 10 %"
  [[nodiscard]] std::string describe(double figure) const;
  [[nodiscard]] const std::string& text() const noexcept { return text_; }

 private:
  [[nodiscard]] double in_unit(double time_ns, const Report& report) const noexcept;
  [[nodiscard]] bool is_beyond_clocks(const Report& report) const;

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
