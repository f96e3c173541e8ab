#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {
namespace {

void reduce_norm() {
  double norm = 1;
  MPI_Allreduce(MPI_IN_PLACE, &norm, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

bool is_last(const Rank& rank) {
  return rank.rank() == rank.size() - 1;
}

}  // namespace

void sleeper(Rank& rank) {
  rank.launch(Kernel::update, 10 * ms);
  rank.wait_for_main_stream();
  nvtxRangePushA("write log");
  if (rank.rank() == 0 && !rank.is_mended()) {
    stay_away(20 * ms);
  }
  nvtxRangePop();
  exchange(rank);
}

void one_rank_sleeps_before_its_kernels(Rank& rank) {
  if (is_last(rank) && !rank.is_mended()) {
    stay_away(15 * ms);
  }
  rank.launch(Kernel::interior, 10 * ms);
  rank.wait_for_main_stream();
  reduce_norm();
}

void one_rank_of_two_sleeps_at_a_reduction(Rank& rank) {
  rank.launch(Kernel::update, 10 * ms);
  rank.wait_for_main_stream();
  if (is_last(rank) && !rank.is_mended()) {
    stay_away(15 * ms);
  }
  reduce_norm();
}

void one_rank_sleeps_every_fourth_step(Rank& rank) {
  rank.launch(Kernel::update, 10 * ms);
  rank.wait_for_main_stream();
  if (is_last(rank) && rank.step() % 4 == 3 && !rank.is_mended()) {
    stay_away(60 * ms);
  }
  exchange(rank);
}

void host(Rank& rank) {
  rank.launch(Kernel::update, 10 * ms);
  rank.wait_for_main_stream();
  MPI_Barrier(MPI_COMM_WORLD);
  nvtxRangePushA("sort particles");
  if (!rank.is_mended()) {
    stay_away(20 * ms);
  }
  nvtxRangePop();
}

void host_code_between_kernels(Rank& rank) {
  rank.launch(Kernel::first, 10 * ms);
  rank.wait_for_main_stream();
  if (!rank.is_mended()) {
    stay_away(15 * ms);
  }
  rank.launch(Kernel::second, 5 * ms);
  rank.wait_for_main_stream();
  reduce_norm();
}

}  // namespace penstock::planted
