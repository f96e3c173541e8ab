#include <mpi.h>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {

void stencil(Rank& rank) {
  rank.launch(Kernel::pack, rank.exchange_ns() / 20);
  rank.wait_for_main_stream();
  if (rank.is_mended()) {
    rank.launch_beside(Kernel::interior, rank.long_kernel_ns());
  }
  exchange(rank);
  rank.launch(Kernel::unpack, rank.exchange_ns() / 20);
  if (!rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  rank.wait_for_gpu();
}

void stencil_without_synchronisation(Rank& rank) {
  rank.launch(Kernel::pack, rank.exchange_ns() / 20);
  rank.wait_for_main_stream();
  MPI_Request requests[2];
  post_exchange(rank, requests);
  if (rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  rank.launch(Kernel::unpack, rank.exchange_ns() / 20);
  if (!rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
}

void stencil_of_two_sides(Rank& rank) {
  if (!rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  rank.launch(Kernel::pack, rank.exchange_ns() / 20);
  rank.wait_for_main_stream();
  if (rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  exchange_both_sides(rank);
  rank.wait_for_main_stream();
}

void stencil_with_residual(Rank& rank) {
  rank.launch(Kernel::pack, rank.exchange_ns() / 20);
  rank.wait_for_main_stream();
  MPI_Request requests[2];
  post_exchange(rank, requests);
  if (rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  if (!rank.is_mended()) {
    rank.launch(Kernel::interior, rank.long_kernel_ns());
  }
  rank.launch(Kernel::residual, rank.exchange_ns() / 20);
  rank.wait_for_main_stream();
  double residual = 1;
  MPI_Allreduce(MPI_IN_PLACE, &residual, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

}  // namespace penstock::planted
