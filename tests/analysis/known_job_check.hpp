// Compares a report with what is known of its job. Test only.
#pragma once

#include <string>
#include <vector>

#include "analysis/report/report.hpp"
#include "tests/analysis/known_job.hpp"

namespace penstock::analysis::testing {

/// One line for each figure that differs, at most `most`; none: the report is right.
[[nodiscard]] std::vector<std::string> differences(const Report& report, const KnownJob& job,
                                                   std::size_t most = 20);

}  // namespace penstock::analysis::testing
