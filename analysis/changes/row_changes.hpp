// Tries the job with changes that rows of the report tell completely: messages of a class that are faster,
// data that is ready, a rank that computes as long as the others, transfers that progress. Must not know
// recordings.
#pragma once

#include "analysis/changes/change.hpp"

namespace penstock::analysis {

/// `sites`: the number of sites in the graph.
void propose_by_rows(const Trial& trial, std::size_t sites);

}  // namespace penstock::analysis
