// Tells what runs that are compared have not in common besides their times. Must not know how they are
// compared.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Adds "WHAT differ: one; other", those of before first, if a text is not the same of all reports.
void add_if_differ(std::vector<std::string>& remarks, const char* what, const std::vector<Report>& before,
                   const std::vector<Report>& after,
                   const std::function<std::string(const Report& report)>& text_of);

/// Returns what the runs have not in common, a line each: ranks, GPUs, MPI, the command.
[[nodiscard]] std::vector<std::string> circumstances_that_differ(const std::vector<Report>& before,
                                                                 const std::vector<Report>& after);

}  // namespace penstock::analysis
