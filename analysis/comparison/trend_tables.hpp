// The tables of a history: a row for each run. Must not know what is said around them.
#pragma once

#include <cstddef>

#include "analysis/comparison/trend.hpp"
#include "analysis/comparison/trend_words.hpp"
#include "analysis/layout/text_page.hpp"

namespace penstock::analysis {

/// What all parts of the text share.
struct TrendView {
  const Trend& trend;
  const TrendWords& words;
  TextPage page;
  std::size_t first;  ///< of the runs that are shown
};

/// Writes times, parts, efficiencies, regions, and what runs differ in besides.
void write_tables(TrendView& view);

}  // namespace penstock::analysis
