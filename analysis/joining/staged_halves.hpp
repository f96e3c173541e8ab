// Finds the messages to which staging copies belong. If the MPI library carries a message from or to a GPU
// buffer, each side may have a copy, and no key joins them. Must not know other ranks.
#pragma once

#include "analysis/joining/rank_facts.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Joins each staging copy without a key with a half of as many bytes that was posted before the copy and
/// completed after it. Of several, the first to complete is taken, so that as many copies as possible find
/// one. Neither the choice among equal halves nor the thread matters: one thread may complete the messages of
/// another. A half whose bytes several copies have together, one after the other, is joined with all of them.
/// `facts` must have the halves and transfers.
void join_staged_halves(const RankTrace& rank, RankFacts& facts);

}  // namespace penstock::analysis
