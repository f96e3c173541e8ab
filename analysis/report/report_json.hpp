// The report for machines: JSON of the schema "penstock-report-2", described in the folder's README.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// UTF-8, one document. Names that are not UTF-8 are mended.
[[nodiscard]] std::string to_json(const Report& report);

/// The same on one line, with at most so many rows in each list: of the ranks those with most counted time,
/// of the others the first. `left_out` says how many rows are missing, by list.
[[nodiscard]] std::string to_short_json(const Report& report, std::size_t most_rows);

}  // namespace penstock::analysis
