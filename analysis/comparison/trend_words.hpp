// Puts a history into sentences, the same for text and page. Must not know where they are shown.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/trend.hpp"
#include "analysis/report/text_figures.hpp"

namespace penstock::analysis {

class TrendWords {
 public:
  /// `trend` must outlive it.
  explicit TrendWords(const Trend& trend);

  /// Suits the longest run, or step of a run.
  [[nodiscard]] const TimeUnit& unit() const noexcept { return unit_; }
  /// Returns "step" or "run".
  [[nodiscard]] const char* one() const noexcept { return trend_.is_by_step ? "step" : "run"; }
  /// Returns true for a change beyond jitter of which something is left at the decimals that are shown.
  [[nodiscard]] bool shows(const DiffRow& row) const;

  /// Returns how many runs there are, and what they have in common.
  [[nodiscard]] std::string what_ran() const;
  /// Returns what the newest run takes, against the one before it and the first one.
  [[nodiscard]] std::string headline() const;
  /// Returns "+3.000 ms ± 0.050 a step: host code +3.000 ms" of a run whose time changed; empty: it did not.
  [[nodiscard]] std::string change_of(const TrendRun& run) const;
  /// Returns what the marks mean, and what is not known.
  [[nodiscard]] std::string explanation() const;
  /// Returns what a reader should beware of, a line each. `first`: of the runs that are shown.
  [[nodiscard]] std::vector<std::string> remarks(const std::vector<LeftOut>& left_out,
                                                 std::size_t first) const;

 private:
  [[nodiscard]] const TrendRun& newest() const { return trend_.runs.back(); }
  [[nodiscard]] std::string changed_parts(const TrendRun& run) const;

  const Trend& trend_;
  TimeUnit unit_;
};

}  // namespace penstock::analysis
