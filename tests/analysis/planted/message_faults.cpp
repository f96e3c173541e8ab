#include <mpi.h>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {

void staged(Rank& rank) {
  rank.launch(Kernel::update, 5 * ms);
  rank.wait_for_main_stream();
  if (rank.is_mended()) {
    exchange(rank);
  } else {
    exchange_by_hand(rank);
  }
}

void staged_by_hand_and_not_blocking(Rank& rank) {
  rank.launch(Kernel::update, 5 * ms);
  rank.wait_for_main_stream();
  if (rank.is_mended()) {
    MPI_Request requests[2];
    post_exchange(rank, requests);
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  } else {
    exchange_by_hand_not_blocking(rank);
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

void received_blocking_behind_a_kernel(Rank& rank) {
  MPI_Request send;
  MPI_Request receive;
  MPI_Isend(rank.out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, MPI_COMM_WORLD, &send);
  if (rank.is_mended()) {
    MPI_Irecv(rank.in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, &receive);
  }
  rank.launch(Kernel::update, rank.long_kernel_ns());
  if (rank.is_mended()) {
    MPI_Wait(&receive, MPI_STATUS_IGNORE);
  }
  rank.wait_for_main_stream();
  if (!rank.is_mended()) {
    MPI_Recv(rank.in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD,
             MPI_STATUS_IGNORE);
  }
  MPI_Wait(&send, MPI_STATUS_IGNORE);
}

}  // namespace penstock::planted
