// The steps of each program with a fault, and of its mended twin. Must not know how sizes are chosen.
#pragma once

#include "tests/analysis/planted/planted_rank.hpp"

namespace penstock::planted {

// overlap_faults: kernels that do not run beside an exchange

/// The interior is computed behind an exchange that it does not need.
void stencil(Rank& rank);
/// It is not waited for besides: the next step's kernels are queued behind it.
void stencil_without_synchronisation(Rank& rank);
/// The interior is computed before what goes to two sides is packed.
void stencil_of_two_sides(Rank& rank);
/// Each step checks its residual: the exchange is between that reduction and the interior.
void stencil_with_residual(Rank& rank);

// message_faults: messages that are copied by hand, or received late

/// Device memory is copied by hand around each message.
void staged(Rank& rank);
void staged_by_hand_and_not_blocking(Rank& rank);
/// A receive is posted behind a kernel that needs none of its data.
void late(Rank& rank);
/// The same is true of a receive that blocks.
void received_blocking_behind_a_kernel(Rank& rank);

// host_code_faults: host code while GPUs are idle

/// Rank 0 is in host code while the others wait.
void sleeper(Rank& rank);
/// The last rank is in host code before its kernels.
void one_rank_sleeps_before_its_kernels(Rank& rank);
/// The last rank is in host code before a reduction.
void one_rank_of_two_sleeps_at_a_reduction(Rank& rank);
void one_rank_sleeps_every_fourth_step(Rank& rank);
/// All ranks are in host code.
void host(Rank& rank);
void host_code_between_kernels(Rank& rank);

// balance_faults: kernels that are longer on some ranks

/// Rank 1 has longer kernels than all others.
void unbalanced(Rank& rank);
void kernels_grow_with_the_rank(Rank& rank);

// reduction_faults: more reductions of a few bytes than are needed

void two_reductions(Rank& rank);
void three_reductions(Rank& rank);
void reductions_in_a_loop(Rank& rank);
/// A number is reduced each time that it is computed, where every tenth time would do.
void scalar_each_step(Rank& rank);

}  // namespace penstock::planted
