#include "tests/analysis/planted/exchanges.hpp"

namespace penstock::planted {
namespace {

void copy_to_host(Rank& rank) {
  check(cudaMemcpy(rank.host_out(), rank.out(), static_cast<std::size_t>(rank.payload_bytes()),
                   cudaMemcpyDeviceToHost));
}

void copy_to_device(Rank& rank) {
  check(cudaMemcpy(rank.in(), rank.host_in(), static_cast<std::size_t>(rank.payload_bytes()),
                   cudaMemcpyHostToDevice));
}

}  // namespace

void exchange(Rank& rank) {
  MPI_Sendrecv(rank.out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, rank.in(), rank.payload_bytes(),
               MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void exchange_both_sides(Rank& rank) {
  exchange(rank);
  MPI_Sendrecv(rank.out(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 1, rank.in(),
               rank.payload_bytes(), MPI_BYTE, rank.next(), 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void post_exchange(Rank& rank, MPI_Request (&requests)[2]) {
  MPI_Irecv(rank.in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(rank.out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, MPI_COMM_WORLD, &requests[1]);
}

void exchange_by_hand(Rank& rank) {
  copy_to_host(rank);
  MPI_Sendrecv(rank.host_out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, rank.host_in(),
               rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  copy_to_device(rank);
}

void exchange_by_hand_not_blocking(Rank& rank) {
  MPI_Request requests[2];
  copy_to_host(rank);
  MPI_Irecv(rank.host_in(), rank.payload_bytes(), MPI_BYTE, rank.previous(), 0, MPI_COMM_WORLD, &requests[0]);
  MPI_Isend(rank.host_out(), rank.payload_bytes(), MPI_BYTE, rank.next(), 0, MPI_COMM_WORLD, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  copy_to_device(rank);
}

void reduce_one_by_one(Rank& rank) {
  for (int i = 0; i < number_count; ++i) {
    MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
}

}  // namespace penstock::planted
