// Writes the report for machines: JSON of the schema "penstock-report-2", described in analysis/README.md.
#pragma once

#include <cstddef>
#include <string>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns one UTF-8 document. Invalid UTF-8 in names is repaired.
[[nodiscard]] std::string to_json(const Report& report);

/// Does the same on one line, with at most `most_rows` rows in each list: the ranks with most counted time,
/// the first rows of other lists. `left_out` holds the number of missing rows, by list.
[[nodiscard]] std::string to_short_json(const Report& report, std::size_t most_rows);

/// Returns what look_at_job() saw: schema "penstock-look-1".
[[nodiscard]] std::string to_json_of_look(const Report& report);

}  // namespace penstock::analysis
