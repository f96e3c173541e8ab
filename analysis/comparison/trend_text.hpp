// Prints a history, for people and for machines. Computes nothing.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "analysis/comparison/trend.hpp"
#include "analysis/layout/text_table.hpp"

namespace penstock::analysis {

/// `top`: the number of runs shown, the newest ones.
[[nodiscard]] std::string to_text(const Trend& trend, const std::vector<LeftOut>& left_out, bool colours,
                                  std::size_t top, std::size_t columns = screen_columns);

/// Returns JSON of the schema "penstock-trend-1", described in analysis/README.md.
[[nodiscard]] std::string to_json(const Trend& trend, const std::vector<LeftOut>& left_out);
/// Does the same for a page: on one line, with the newest `most_runs` runs at most.
[[nodiscard]] std::string to_short_json(const Trend& trend, const std::vector<LeftOut>& left_out,
                                        std::size_t most_runs);

}  // namespace penstock::analysis
