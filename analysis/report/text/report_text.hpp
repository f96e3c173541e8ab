// Prints the report for people: one screen, the verdict first. Formats only, computes nothing.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/layout/text_table.hpp"
#include "analysis/report/report.hpp"

namespace penstock::analysis {

struct TextOptions {
  bool colours = false;
  std::size_t top = 5;                   ///< rows of each list
  bool all = false;                      ///< every section, not only the first screen
  std::size_t columns = screen_columns;  ///< of the terminal
};

/// Lines fit the columns, but for tables whose numbers alone are wider; no more than 52 lines with the
/// default options.
[[nodiscard]] std::string to_text(const Report& report, const TextOptions& options);

/// Returns what look_at_job() saw.
[[nodiscard]] std::string to_text_of_look(const Report& report, const TextOptions& options);

}  // namespace penstock::analysis
