#include <mpi.h>

#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {

void unbalanced(Rank& rank) {
  const std::uint64_t usual_ms = rank.is_mended() ? 15 + 20 / static_cast<std::uint64_t>(rank.size()) : 15;
  rank.launch(Kernel::update, (rank.rank() == 1 && !rank.is_mended() ? 35 : usual_ms) * ms);
  rank.wait_for_main_stream();
  MPI_Barrier(MPI_COMM_WORLD);
}

void kernels_grow_with_the_rank(Rank& rank) {
  const auto rank_number = static_cast<std::uint64_t>(rank.rank());
  const auto ranks = static_cast<std::uint64_t>(rank.size());
  rank.launch(Kernel::spmv, rank.is_mended() ? 5 * (ranks + 1) * ms : 10 * (rank_number + 1) * ms);
  rank.launch(Kernel::axpy, 2 * ms);
  rank.wait_for_main_stream();
  double dot = 1;
  MPI_Allreduce(MPI_IN_PLACE, &dot, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace penstock::planted
