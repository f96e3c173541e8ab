// The report for machines: JSON of the schema "penstock-report-2", described in the folder's README.
#pragma once

#include <string>

#include "analysis/report.hpp"

namespace penstock::analysis {

/// UTF-8, one document. Names that are not UTF-8 are mended.
[[nodiscard]] std::string to_json(const Report& report);

}  // namespace penstock::analysis
