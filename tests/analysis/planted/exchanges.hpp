// What ranks say to each other in a step. Must not know the faults.
#pragma once

#include <mpi.h>

#include "tests/analysis/planted/planted_rank.hpp"

namespace penstock::planted {

/// Sends device memory to the next rank, and receives from the previous one.
void exchange(Rank& rank);
/// Does so in both directions of the ring, one after the other.
void exchange_both_sides(Rank& rank);
/// Posts an exchange. Both requests are the caller's to complete.
void post_exchange(Rank& rank, MPI_Request (&requests)[2]);
/// Does what exchange() does, through host memory.
void exchange_by_hand(Rank& rank);
void exchange_by_hand_not_blocking(Rank& rank);

/// Sums a number of all ranks, as often as there are numbers.
void reduce_one_by_one(Rank& rank);

}  // namespace penstock::planted
