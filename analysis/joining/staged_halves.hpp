// Finds the messages that staging copies are parts of: a message that the MPI library carries, between
// buffers of which one or both lie on a GPU, has a copy on either side and no key by which these could be
// found. Must not know other ranks.
#pragma once

#include "analysis/joining/rank_facts.hpp"
#include "analysis/recording/rank_trace.hpp"

namespace penstock::analysis {

/// Joins each staging copy without a key with a half of as many bytes, between whose post and completion it
/// was made: of several the one that completes first, so that as many copies as can be find one. Which of
/// equal halves it is does not matter, nor which thread made it: one thread may complete the messages of
/// another. `facts` must have the halves and transfers.
void join_staged_halves(const RankTrace& rank, RankFacts& facts);

}  // namespace penstock::analysis
