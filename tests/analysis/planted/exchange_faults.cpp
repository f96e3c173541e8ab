#include <mpi.h>

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

void staged(Rank& rank) {
  rank.launch(Kernel::update, 5 * ms);
  rank.wait_for_main_stream();
  if (rank.is_mended()) {
    exchange(rank);
  } else {
    exchange_by_hand(rank);
  }
}

void late(Rank& rank) {
  MPI_Request requests[2];
  MPI_Isend(rank.out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, MPI_COMM_WORLD, &requests[0]);
  if (rank.is_mended()) {
    MPI_Irecv(rank.in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, &requests[1]);
  }
  rank.launch(Kernel::update, rank.long_kernel_ns());
  if (rank.is_mended()) {
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
  rank.wait_for_main_stream();
  if (!rank.is_mended()) {
    MPI_Irecv(rank.in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, &requests[1]);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  }
}

}  // namespace penstock::planted
