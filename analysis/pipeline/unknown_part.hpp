// A recorded part in which nothing is recorded: its length is known and nothing else, and time without a
// record would be told as host code. Must not know how figures are computed.
#pragma once

#include "analysis/report/report.hpp"

namespace penstock::analysis {

/// Makes the report's figures those of an empty part if records were dropped and no rank has one from before.
void forget_part_without_records(Report& report);

}  // namespace penstock::analysis
