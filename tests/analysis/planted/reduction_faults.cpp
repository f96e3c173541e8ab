#include <mpi.h>

#include "tests/analysis/planted/exchanges.hpp"
#include "tests/analysis/planted/planted_faults.hpp"

namespace penstock::planted {
namespace {

void update(Rank& rank) {
  rank.launch(Kernel::update, rank.exchange_ns() / 10);
  rank.wait_for_main_stream();
}

/// Copies a number that is to be reduced to the host, which looks at it: reductions before it and behind it
/// cannot be one. A kernel between them would be more like a solver, but on a simulated GPU takes so long
/// that a reduction is nothing beside it.
void read_number(Rank& rank) {
  double number = 0;
  check(cudaMemcpy(&number, rank.out(), sizeof number, cudaMemcpyDeviceToHost));
}

}  // namespace

void two_reductions(Rank& rank) {
  update(rank);
  for (int i = 0; i < number_count; ++i) {
    read_number(rank);
    MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), rank.is_mended() ? 2 : 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    if (!rank.is_mended()) {
      MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    }
  }
}

void three_reductions(Rank& rank) {
  update(rank);
  for (int i = 0; i < number_count; ++i) {
    read_number(rank);
    MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), rank.is_mended() ? 3 : 1, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    if (!rank.is_mended()) {
      MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
      MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), 1, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD);
    }
  }
}

void reductions_in_a_loop(Rank& rank) {
  update(rank);
  if (rank.is_mended()) {
    MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), number_count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  } else {
    reduce_one_by_one(rank);
  }
}

void scalar_each_step(Rank& rank) {
  update(rank);
  for (int i = 0; i < number_count; ++i) {
    read_number(rank);
    if (!rank.is_mended() || i % 10 == 9) {
      MPI_Allreduce(rank.numbers(), rank.reduced_numbers(), 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
  }
}

}  // namespace penstock::planted
