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
  /// Returns the change in the condition's unit, and 0 for one that may be chance; nullopt if that is
  /// unknown.
  [[nodiscard]] std::optional<double> change(const FailCondition& condition) const;
  /// Returns what else differs, such as the program or its MPI, in one line; empty: nothing.
  [[nodiscard]] const std::string& what_differs() const noexcept { return what_differs_; }
  /// Returns why it is unknown.
  [[nodiscard]] std::string why_unknown(const FailCondition& condition) const;

 private:
  [[nodiscard]] const DiffRow* row(const FailCondition& condition) const;
  [[nodiscard]] std::string why_not_comparable(const FailCondition& condition) const;

  Diff diff_;
  std::string why_not_;  ///< no figure can be compared; empty if some can
  std::string what_differs_;
  bool lost_gpu_records_ = false;  ///< in either
};

}  // namespace penstock::analysis
