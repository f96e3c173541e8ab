// The tables of a history: a row for each run. Must not know what is said around them.
#pragma once

#include <cstddef>

#include "analysis/comparison/trend.hpp"
#include "analysis/report/text_figures.hpp"
#include "analysis/report/text_page.hpp"

namespace penstock::analysis {

/// What all parts of the text share.
struct TrendView {
  const Trend& trend;
  TextPage page;
  std::size_t first;  ///< of the runs that are shown
  double longest_ns;  ///< run, or step of a run
  TimeUnit unit;
  const char* one;  ///< "step" or "run"

  /// Returns true for a change beyond jitter of which something is left at the decimals that are shown.
  [[nodiscard]] bool shows(const DiffRow& row) const;
};

/// Writes times, parts, efficiencies, regions, and what runs differ in besides.
void write_tables(TrendView& view);

}  // namespace penstock::analysis
