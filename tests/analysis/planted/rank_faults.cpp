#include <mpi.h>
#include <nvtx3/nvToolsExt.h>

#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {

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

void unbalanced(Rank& rank) {
  const std::uint64_t usual_ms = rank.is_mended() ? 15 + 20 / static_cast<std::uint64_t>(rank.size()) : 15;
  rank.launch(Kernel::update, (rank.rank() == 1 && !rank.is_mended() ? 35 : usual_ms) * ms);
  rank.wait_for_main_stream();
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace penstock::planted
