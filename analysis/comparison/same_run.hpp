// Tells whether two recordings are of one run: the same one named twice, a link to it, or a copy. Must not
// know where recordings lie.
#pragma once

#include <string>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Returns true if the first rank of both is one process.
[[nodiscard]] bool are_of_one_run(const Report& left, const Report& right);

/// Returns a clause that says why a recording counts no second time: `again` is of the run of `counted`.
[[nodiscard]] std::string same_run_text(const std::string& again, const std::string& counted);

}  // namespace penstock::analysis
