// The steps of programs of equal ranks with a fault, and of their mended twins, as lists of calls; some count
// the steps, so both twins must do as many. Must not know what is advised. Test only. Times are ns.
#pragma once

#include <cstdint>

#include "tests/analysis/planted/planted_job.hpp"

namespace penstock::analysis::planted_steps {

using testing::PlantedJob;
using testing::PlantedMessage;

constexpr std::uint64_t us = 1'000;
constexpr std::uint64_t ms = 1'000'000;

inline const PlantedMessage halo{"halo", 800 * us};

void exchange(PlantedJob& job, const PlantedMessage& message);
/// The interior, which comes behind the exchange, waits for it for nothing. It is not waited for: the next
/// step's kernels are queued behind it.
void stencil_without_synchronisation(PlantedJob& job, bool is_mended);
void stencil(PlantedJob& job, bool is_mended);
/// The interior is computed before it is packed, on two sides that are sent by calls of their own.
void stencil_of_two_sides(PlantedJob& job, bool is_mended);
/// A stencil that checks its residual each step: the exchange is between the reduction and the interior.
void stencil_with_residual(PlantedJob& job, bool is_mended);
void one_rank_sleeps(PlantedJob& job, bool is_mended);
void one_rank_sleeps_before_its_kernels(PlantedJob& job, bool is_mended);
/// The previous rank cannot put into its memory meanwhile.
void one_rank_opens_its_window_late(PlantedJob& job, bool is_mended);
void kernels_are_unbalanced(PlantedJob& job, bool is_mended);
void staged_by_hand(PlantedJob& job, bool is_mended);
void received_behind_a_kernel(PlantedJob& job, bool is_mended);
void two_reductions(PlantedJob& job, bool is_mended);
void host_code_on_all_ranks(PlantedJob& job, bool is_mended);
void one_rank_of_two_sleeps_at_a_reduction(PlantedJob& job, bool is_mended);
/// Both programs count, one after the other: each has as many steps. On a real machine no step is without a
/// little host code there, which is not told.
void one_rank_sleeps_every_fourth_step(PlantedJob& job, bool is_mended);
void host_code_between_kernels(PlantedJob& job, bool is_mended);
void kernels_grow_with_the_rank(PlantedJob& job, bool is_mended);
void three_reductions(PlantedJob& job, bool is_mended);
void reductions_in_a_loop(PlantedJob& job, bool is_mended);
void staged_by_hand_and_not_blocking(PlantedJob& job, bool is_mended);
/// What one rank sends moves for longer: then the other one has received, and waits for its send.
void received_blocking_behind_a_kernel(PlantedJob& job, bool is_mended, std::uint64_t more_from_rank_0_ns);
/// A dot product that is reduced each step; the twin does it every tenth step.
void scalar_each_step(PlantedJob& job, bool is_mended);

}  // namespace penstock::analysis::planted_steps
