// Decides conditions on how a report differs from an earlier one: "step > +5%". Uses finished reports alone.
#pragma once

#include <optional>
#include <string>

#include "analysis/comparison/diff.hpp"
#include "analysis/report/conclusions/fail_condition.hpp"

namespace penstock::analysis {

class Baseline {
 public:
  Baseline(const Report& baseline, const Report& report);
  /// Decides by a change that a history has judged. `before`: the run before it.
  Baseline(const Report& before, const Report& report, Diff change);
  /// Returns the change in the condition's unit, and 0 for one that may be chance; nullopt if that is
  /// unknown.
  [[nodiscard]] std::optional<double> change(const FailCondition& condition) const;
  /// Returns a change in words, with its limit.
  [[nodiscard]] std::string describe(const FailCondition& condition, double change) const;
  /// Returns what a change has to exceed to be one, in the condition's unit; nullopt if that is unknown.
  [[nodiscard]] std::optional<double> jitter(const FailCondition& condition) const;
  /// Returns what a change was not held against, for a parenthesis; empty: nothing.
  [[nodiscard]] const std::string& reservation() const noexcept { return reservation_; }
  /// Returns what else differs, such as the program or its MPI, in one line; empty: nothing.
  [[nodiscard]] const std::string& what_differs() const noexcept { return what_differs_; }
  /// Returns why it is unknown.
  [[nodiscard]] std::string why_unknown(const FailCondition& condition) const;

 private:
  Baseline(const Report& baseline, const Report& report, const std::string& name);
  [[nodiscard]] const DiffRow* row(const FailCondition& condition) const;
  [[nodiscard]] std::string why_not_comparable(const FailCondition& condition) const;

  Diff diff_;
  std::string why_not_;  ///< no figure can be compared; empty if some can
  std::string what_differs_;
  std::string reservation_;
  bool lost_gpu_records_ = false;    ///< in either
  bool lacks_launch_times_ = false;  ///< one of the two
};

}  // namespace penstock::analysis
