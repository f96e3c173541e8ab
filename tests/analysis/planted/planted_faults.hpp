// The steps of each program with a fault, and of its mended twin. Must not know how sizes are chosen.
#pragma once

#include "tests/analysis/planted/planted_rank.hpp"

namespace penstock::planted {

// exchange_faults.cpp

/// The interior is computed behind an exchange that it does not need.
void stencil(Rank& rank);
/// Device memory is copied by hand around each message.
void staged(Rank& rank);
/// A receive is posted behind a kernel that needs none of it.
void late(Rank& rank);

// rank_faults.cpp

/// Rank 0 is in host code while the others wait.
void sleeper(Rank& rank);
/// All ranks are in host code while their GPUs are idle.
void host(Rank& rank);
/// The kernels of rank 1 take longer.
void unbalanced(Rank& rank);

}  // namespace penstock::planted
